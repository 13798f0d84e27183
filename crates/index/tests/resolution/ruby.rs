//! Ruby: constants across files, bare words, `new`, mixins, readers, blocks, `super`.

use crate::common::check_calls;

calls! {
    across_files: r#"
//- lib/shop/cart.rb
require_relative 'mailer'
module Shop
  class Cart < Base
    include Logs
    attr_reader :mailer
    def initialize
      @mailer = Mailer.new
    end
    def self.build
      new
#     ^^^ =calls lib/shop/cart.rb:Shop.Cart.initialize
    end
    def boot
      super
#     ^^^^^ =calls lib/shop/base.rb:Shop.Base.boot
    end
    def run
      helper
#     ^^^^^^ =calls lib/shop/cart.rb:Shop.Cart.helper
      self.helper
#          ^^^^^^ =calls lib/shop/cart.rb:Shop.Cart.helper
      log
#     ^^^ =calls lib/shop/logs.rb:Shop.Logs.log
      @mailer.deliver
#             ^^^^^^^ calls lib/shop/mailer.rb:Shop.Mailer.deliver
      m = Mailer.new
      m.deliver
#       ^^^^^^^ =calls lib/shop/mailer.rb:Shop.Mailer.deliver
      [m].each do |each|
        each.deliver
#            ^^^^^^^ calls lib/shop/mailer.rb:Shop.Mailer.deliver
      end
      unknown.deliver
#             ^^^^^^^ calls lib/shop/mailer.rb:Shop.Mailer.deliver
    end
    private
    def helper; end
  end
end
//- lib/shop/mailer.rb
module Shop
  class Mailer
    def deliver; end
  end
end
//- lib/shop/base.rb
module Shop
  class Base
    def boot; end
  end
end
//- lib/shop/logs.rb
module Shop
  module Logs
    def log; end
  end
end
//- bin/main.rb
Shop::Cart.build
#          ^^^^^ =calls lib/shop/cart.rb:Shop.Cart.build
Shop::Cart.new.run
#     ^^^^ =calls lib/shop/cart.rb:Shop.Cart.initialize
#              ^^^ =calls lib/shop/cart.rb:Shop.Cart.run
"#;
}

#[test]
fn members_of_unknown_receivers_are_matched_by_text() {
    check_calls(
        r#"
//- a.rb
class Table
  def accepting?(state)
  end
  def map
  end
end
def run(x)
  x.accepting?(1)
#   ^^^^^^^^^^ calls a.rb:Table.accepting?
end
def other(y)
  y.map
#   ^^^ none
end
"#,
    );
}

#[test]
fn writers_classes_of_instances_and_what_heirs_do() {
    check_calls(
        r#"
//- shapes.rb
class Shape
  def self.make(*args)
    new(*args)
#   ^^^ calls shapes.rb:Shape.initialize, shapes.rb:Round.initialize
  end
  def self.draw; end
  def initialize; end
  def copy
    self.class.make
#              ^^^^ =calls shapes.rb:Shape.make
  end
  def size=(value)
    draw
#   ^^^^ calls shapes.rb:Shape.draw, shapes.rb:Round.draw
  end
  def draw; end
  draw
# ^^^^ =calls shapes.rb:Shape.draw
end
class Round < Shape
  def initialize; end
  def draw; end
end
shape = Shape.new
#       ^^^^^ =calls shapes.rb:Shape.initialize
shape.size = 1
#     ^^^^ =calls shapes.rb:Shape.size=
"#,
    );
}

#[test]
fn an_unknown_receiver_may_be_any_of_one_family() {
    check_calls(
        r#"
//- tags.rb
class Tag; def paint_all; end; end
class A < Tag; def paint_all; end; end
class B < Tag; def paint_all; end; end
class C < Tag; def paint_all; end; end
class D < Tag; def paint_all; end; end
class E < Tag; def paint_all; end; end
def run(tag)
  tag.paint_all
#     ^^^^^^^^^ calls tags.rb:Tag.paint_all, tags.rb:A.paint_all, tags.rb:B.paint_all, tags.rb:C.paint_all, tags.rb:D.paint_all, tags.rb:E.paint_all
end
"#,
    );
}

#[test]
fn attributes_are_methods_and_give_what_their_variable_holds() {
    check_calls(
        r#"
//- shop.rb
class Mailer
  def deliver; end
end
class Cart
  attr_reader :mailer
  attr_accessor :done
  class << self
    attr_accessor :limit
  end
  def initialize
    @mailer = Mailer.new
#             ^^^^^^ none
    @done = -> { finish }
#                ^^^^^^ =calls shop.rb:Cart.finish
  end
  def run
    mailer.deliver
#   ^^^^^^ =calls shop.rb:Cart.mailer
#          ^^^^^^^ calls shop.rb:Mailer.deliver
    done
#   ^^^^ =calls shop.rb:Cart.done
    self.class.limit
#              ^^^^^ =calls shop.rb:Cart.limit
  end
  def finish; end
end
cart = Cart.new
#      ^^^^ =calls shop.rb:Cart.initialize
cart.mailer.deliver
#    ^^^^^^ =calls shop.rb:Cart.mailer
#           ^^^^^^^ calls shop.rb:Mailer.deliver
"#,
    );
}

#[test]
fn blocks_are_called_by_yield_and_by_those_who_name_them() {
    check_calls(
        r#"
//- walk.rb
class Row
  def show; end
end
class Table
  def each
    yield Row.new
  end
  def visit(depth = 0, &action)
    action.call(Row.new)
  end
end
Table.new.each { |row| row.show }
#         ^^^^ =calls walk.rb:Table.each
#                          ^^^^ calls walk.rb:Row.show
Table.new.visit { |row| row.show }
#         ^^^^^ =calls walk.rb:Table.visit
#                           ^^^^ calls walk.rb:Row.show
[Row.new].each(&:show)
#         ^^^^ calls walk.rb:Row.show
#               ^^^^^ calls walk.rb:Row.show
[Row.new].inject(Row.new) { |before, row| before.show }
#                                                ^^^^ calls walk.rb:Row.show
def plain(depth)
  depth.show_nothing
#       ^^^^^^^^^^^^ none
end
plain(1) { |row| row }
"#,
    );
}

#[test]
fn names_told_as_symbols_and_other_names() {
    check_calls(
        r#"
//- names.rb
class Machine
  def start; end
  alias begin_now start
  alias_method :launch, :start
  define_method(:halt) { start }
#                        ^^^^^ =calls names.rb:Machine.start
  def run(word)
    send(:start)
#   ^^^^ =calls names.rb:Machine.start
    public_send("halt")
#   ^^^^^^^^^^^ =calls names.rb:Machine.halt
    launch
#   ^^^^^^ calls names.rb:Machine.start
    begin_now
#   ^^^^^^^^^ calls names.rb:Machine.start
    halt
#   ^^^^ =calls names.rb:Machine.halt
    method(:start).call
#                  ^^^^ calls names.rb:Machine.start
    send(word)
#   ^^^^ none
  end
end
"#,
    );
}

#[test]
fn a_mixin_calls_what_those_have_who_mix_it_in() {
    check_calls(
        r#"
//- mixins.rb
module Printing
  def print_all
    name
#   ^^^^ calls mixins.rb:Report.name
    self.body
#        ^^^^ calls mixins.rb:Page.body
    title
#   ^^^^^ none
  end
end
class Page
  def body; end
end
class Report < Page
  include Printing
  def name; end
end
class Stranger
  def title; end
  def name; end
end
"#,
    );
}

#[test]
fn what_cannot_be_meant_is_not_guessed() {
    check_calls(
        r#"
//- guesses.rb
class Store
  def keep_it(item); end
  def method_missing(name)
    super
#   ^^^^^ none
  end
end
module Keeping
  def hold_it; end
end
class Other
  def method_missing(name); end
  def run(box)
    File.keep_it(1)
#        ^^^^^^^ none
    keep_it(1)
#   ^^^^^^^ none
    hold_it
#   ^^^^^^^ calls guesses.rb:Keeping.hold_it
    box.keep_it(1)
#       ^^^^^^^ calls guesses.rb:Store.keep_it
  end
end
"#,
    );
}

#[test]
fn a_class_is_written_in_parts() {
    check_calls(
        r#"
//- base.rb
module Shop
  class Base
    def tidy; end
  end
end
//- cart.rb
module Shop
  class Cart < Base
    attr_reader :size
    def total; end
  end
end
//- cart_more.rb
module Shop
  class Cart
    def run
      total
#     ^^^^^ =calls cart.rb:Shop.Cart.total
      tidy
#     ^^^^ =calls base.rb:Shop.Base.tidy
      size
#     ^^^^ =calls cart.rb:Shop.Cart.size
    end
  end
end
//- elsewhere.rb
module Other
  class Cart
    def total; end
    def run
      total
#     ^^^^^ =calls elsewhere.rb:Other.Cart.total
    end
  end
end
"#,
    );
}

#[test]
fn a_constant_outside_of_all_modules() {
    check_calls(
        r#"
//- shop.rb
module Shop
  class Tool
    def use; end
  end
  class Shop
    def run
      tool = ::Shop::Tool.new
      tool.use
#          ^^^ =calls shop.rb:Shop.Tool.use
    end
  end
end
"#,
    );
}

#[test]
fn what_is_asked_of_a_name_tells_its_type() {
    check_calls(
        r#"
//- element.rb
class Element
  attr_accessor :type, :value
  def indent; end
end
class Field
  attr_accessor :type, :value
end
//- writer.rb
class Writer
  def convert(el)
    el.type
#      ^^^^ calls element.rb:Element.type
    el.indent
#      ^^^^^^ calls element.rb:Element.indent
  end
  def text(el)
    el.value.freeze
#      ^^^^^ calls element.rb:Element.value
  end
  def of_any_type(pair)
    pair.value
#        ^^^^^ none
    pair.type
#        ^^^^ none
  end
  def of_no_type(thing)
    thing.value
#         ^^^^^ none
    thing.indent
#         ^^^^^^ calls element.rb:Element.indent
    thing.missing
#         ^^^^^^^ none
  end
end
"#,
    );
}

#[test]
fn what_is_put_into_an_array_is_found_in_it() {
    check_calls(
        r#"
//- a.rb
class Part
  def use; end
end
class Log
  def <<(line); end
end
class Whole
  def initialize
    @parts = []
    @log = Log.new
  end
  def add
    @parts << 1 << Part.new
    @log << "added"
#        ^^ =calls a.rb:Log.<<
  end
  def run
    @parts.first.use
#                ^^^ calls a.rb:Part.use
    @parts.each { |part| part.use }
#                             ^^^ calls a.rb:Part.use
  end
end
"#,
    );
}

#[test]
fn members_of_a_type_are_not_those_of_its_instances() {
    check_calls(
        r#"
//- base.rb
module Base
  class << self
    def shell; end
  end
end
module First
  def shell; end
  def start; end
end
module Second
  def start; end
end
class App
  include First
  include Second
  include Base
  def go
    shell
#   ^^^^^ =calls base.rb:First.shell
    start
#   ^^^^^ =calls base.rb:Second.start
    self.class.go
#              ^^ none
  end
  def self.make; end
  def self.[](name)
    new
  end
  def old; end
  alias young old
end
Base.shell
#    ^^^^^ =calls base.rb:Base.shell
App.new.make
#       ^^^^ none
App["a"].go
#        ^^ calls base.rb:App.go
App.new.young
#       ^^^^^ calls base.rb:App.old
"#,
    );
}

#[test]
fn modules_inside_of_a_class_and_attributes_of_modules() {
    check_calls(
        r#"
//- request.rb
class Request
  module Env
    attr_reader :context
    def get
      context
#     ^^^^^^^ =calls request.rb:Request.Env.context
    end
  end
  include Env
end
Request.new.get
#           ^^^ =calls request.rb:Request.Env.get
"#,
    );
}

#[test]
fn classes_are_told_apart_by_the_path_before_their_name() {
    check_calls(
        r#"
//- doc.rb
module Doc
  class Parser; end
end
//- markdown.rb
class Doc::Markdown
  def scan; end
  def run
    scan
#   ^^^^ =calls markdown.rb:Markdown.scan
    more
#   ^^^^ =calls more.rb:Markdown.more
  end
end
//- more.rb
class Doc::Markdown
  def more; end
end
//- parser.rb
class Doc::Parser::Markdown < Doc::Parser
  def scan; end
  def more; end
end
"#,
    );
}

#[test]
fn what_overrides_it_is_passed_over_by_super() {
    check_calls(
        r#"
//- a.rb
class A
  def open; end
end
class B < A
  def open
    super
#   ^^^^^ =calls a.rb:A.open
  end
end
class C < B
  def open; end
end
"#,
    );
}

#[test]
fn what_only_tests_inherit_is_not_what_the_code_runs() {
    check_calls(
        r#"
//- lib/base.rb
class Base
  def run
    report_all
#   ^^^^^^^^^^ none
  end
end
//- spec/base_spec.rb
class Double < Base
  def report_all; end
end
"#,
    );
}
