-- When a mutex is left free for clients that know no line and poll, and whom it goes to otherwise.
-- Before it stand string.lua and, of lua/common, line.lua and telling.lua.

local function free_until()
  local moment = tonumber(get({'q', 'p', 'b'})[1] or 0) -- All at once, as they go together.
  return moment > real and moment <= real + FREE and moment or nil
end

-- A hold of somebody who knows no line: such clients are about, so they get free moments often.
local function note_foreign()
  if tonumber(get1('b') or 0) ~= LEAST then set('b', fmt('%d', LEAST)) end
  set('p', fmt('%d', real))
end

-- The mutex is free: it goes to the first in line, or to nobody for a moment.
local function serve()
  giving = true
  if value or free_until() then return end
  local first = front(W)
  if not first then return end
  local since, budget = tonumber(get1('p') or real), tonumber(get1('b') or MOST)
  if real - since < budget and since <= real then return pass_on() end
  -- If nobody comes, it is longer until the next.
  set('q', fmt('%d', real + FREE))
  set('p', fmt('%d', real + FREE))
  set('b', fmt('%d', min(2 * budget, MOST)))
  commit(true)
  told(first, first.id) -- So that it looks when the moment is over.
end
