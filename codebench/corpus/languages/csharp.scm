; A namespace is the file's package, so it is not in the name; fields and automatic properties
; belong to their class, a property with code is a method.
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @type
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(destructor_declaration name: (_) @name) @method
(operator_declaration operator: _ @name) @method
(property_declaration name: (_) @name value: (arrow_expression_clause)) @method
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_)))) @method
((indexer_declaration) @method (#set! name "this"))
((conversion_operator_declaration) @method (#set! name "operator"))
(local_function_statement name: (_) @name) @function

(comment) @comment
(using_directive) @import
