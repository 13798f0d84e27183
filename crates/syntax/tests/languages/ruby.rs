//! Ruby, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn classes_readers_and_bare_words() {
    check(
        "ruby",
        r#"module Shop
  # A cart of the shop. More words.
  class Cart < Base
    include Logs
    attr_reader :items
    MAX = 3
    def initialize(items, owner: nil, *rest, &block)
      @items = items
    end
    def self.build
      new
    end
    def run
      helper
      items.each { |item| item.go }
    end
    private
    def helper; end
  end
end
"#,
        expect![[r#"
            import Wildcard Shop @1:0
            module Shop @1-20 "module Shop"
            class Shop.Cart extension @3-19 "class Cart < Base" extends free Base mixes free Logs doc "A cart of the shop."
            property Shop.Cart.items getter @5-5 "attr_reader :items"
            field Shop.Cart.MAX @6-6 "MAX = 3"
            constructor Shop.Cart.initialize @7-9 "def initialize(items, owner: nil, *rest, &block)" (items, key owner = nil, *rest, &block)
            method Shop.Cart.build static @10-12 "def self.build"
            method Shop.Cart.run @13-16 "def run"
            lambda Shop.Cart.run.<lambda1> @15-15 "{ |item|" (item)
            method Shop.Cart.helper Private @18-18 "def helper; end"
            return Shop.Cart.items <- this.@items
            flow free MAX <- number
            flow maybe parameter owner <- null
            flow this.@items <- parameter items
            return Shop.Cart.initialize <- parameter items
            return Shop.Cart.build <- new def Shop.Cart()
            return Shop.Cart.run <- free items().each(&=def Shop.Cart.run.<lambda1>)
            inherit free Base in Shop.Cart @3:15
            inherit free Logs in Shop.Cart @4:12
            instantiate def Shop.Cart in Shop.Cart.build @11:6
            call free helper in Shop.Cart.run @14:6
            call free items in Shop.Cart.run @15:6
            call free items().each in Shop.Cart.run @15:12
            call parameter item.go in Shop.Cart.run.<lambda1> @15:31
        "#]],
    );
}
