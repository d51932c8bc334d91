; An impl block and a module only carry a name; their own lines are the file's.
(impl_item type: (_) @name) @extension
(mod_item name: (identifier) @name body: (_)) @namespace
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(struct_item name: (_) @name) @type
(enum_item name: (_) @name) @type
(union_item name: (_) @name) @type
(trait_item name: (_) @name) @type
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant

(attribute_item) @attribute
(line_comment) @comment
(block_comment) @comment

(use_declaration) @import
(mod_item !body) @import
(extern_crate_declaration) @import
