; The package is not in the name; a companion object repeats its class's name.
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(package_object name: (_) @name) @class
(enum_definition name: (_) @name) @class
(trait_definition name: (_) @name) @class
(given_definition name: (_) @name) @class
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(type_definition name: (_) @name) @type
(compilation_unit (val_definition pattern: (identifier) @name) @constant)
(compilation_unit (var_definition pattern: (identifier) @name) @variable)

(comment) @comment
(block_comment) @comment
(indented_block) @block
(import_declaration) @import
