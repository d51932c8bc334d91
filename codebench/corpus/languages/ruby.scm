; `class << self` gives no name: what is in it belongs to the class around it.
(class name: (_) @name) @class
(module name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method object: (_) @scope name: (_) @name) @function
; Point = Struct.new(:x) do … end
(assignment left: (constant) @name right: (call block: (_))) @class
(assignment left: (constant) @name) @constant

(comment) @comment
(call method: (identifier) @required arguments: (argument_list (string))
  (#any-of? @required "require" "require_relative" "load" "autoload")) @import
