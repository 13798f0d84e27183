//! Lua: functions in tables, and the tables that files return, by `require`.

calls! {
    through_a_table: r#"
//- shop.lua
local M = {}
function M.price(x) return x end
function M.total(x)
  return M.price(x)
--         ^^^^^ calls shop.lua:price
end
M.sum = function(x) return M.total(x) end
--                           ^^^^^ calls shop.lua:total
return M
"#;
    through_require: r#"
//- main.lua
local b = require("a.b")
local c = require "c"
local json = require("cjson")
local function main()
  b.go(1)
--  ^^ calls a/b.lua:go
  b:add(2)
--  ^^^ calls a/b.lua:add
  c.run()
--  ^^^ =calls c/init.lua:run
  json.encode(1)
  require("a.b").go(2)
--               ^^ calls a/b.lua:go
end
main()
-- <- calls main.lua:main
//- a/b.lua
local M = {}
function M.go(x) return x end
function M:add(x) return x end
return M
//- c/init.lua
local function run() end
return { run = run }
//- lua/plugin/start.lua
local util = require("plugin.util")
util.log()
--   ^^^ =calls lua/plugin/util.lua:log
//- lua/plugin/util.lua
local function log() end
return { log = log }
"#;
}
