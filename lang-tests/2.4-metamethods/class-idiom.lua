-- Classes from __index, with inheritance and overriding (2.4).
-- expect: ok
--| it makes a noise
--| rex makes woof
--| anon makes woof
--| it makes silence
--| rex makes woof
--| anon makes woof
--| rex makes own sound
--| anon makes silence
--| 1 makes silence
--| 2 makes silence
--| 3 makes silence

local Animal = {}
Animal.__index = Animal
function Animal.new(name) return setmetatable({ name = name }, Animal) end
function Animal:speak() return self.name .. " makes " .. self:sound() end
function Animal:sound() return "a noise" end
local Dog = setmetatable({}, { __index = Animal })
Dog.__index = Dog
function Dog.new(name) return setmetatable(Animal.new(name), Dog) end
function Dog:sound() return "woof" end
local animals = { Animal.new("it"), Dog.new("rex"), setmetatable({ name = "anon" },
  { __index = Dog }) }
for _, a in ipairs(animals) do print(a:speak()) end
function Animal:sound() return "silence" end
for _, a in ipairs(animals) do print(a:speak()) end
animals[2].sound = function() return "own sound" end
print(animals[2]:speak())
Dog.sound = nil
print(animals[3]:speak())
local per_object = {}
for i = 1, 3 do per_object[i] = setmetatable({ name = i }, { __index = Dog }) end
for i = 1, 3 do print(per_object[i]:speak()) end
