; A module-level assignment belongs to the file's own lines.
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(decorator) @attribute

(comment) @comment
; Any string that stands alone: docstrings, and the doc of an attribute under it.
(expression_statement . (string) @docstring .)

; Dedenting a statement changes what the code does; the comma makes the tuple.
(block) @block
(tuple . (_) . "," @mark . ")")

(import_statement) @import
(import_from_statement) @import
