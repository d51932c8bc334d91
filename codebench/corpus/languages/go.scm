(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @scope))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
; In a group the spec is the chunk; the group's own lines are the file's.
(source_file (const_declaration (const_spec . name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec . name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec . name: (identifier) @name) @variable)))

(comment) @comment
(import_spec path: (_) @import)
