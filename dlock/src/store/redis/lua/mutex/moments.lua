-- When a mutex is left free for programs that poll, and which waiter gets it otherwise.
-- Before it stand string.lua and, of lua/common, line.lua and telling.lua.

local function free_until()
  local moment = tonumber(get({'q', 'p', 'b'})[1] or 0) -- All at once, as they go together.
  return moment > real and moment <= real + FREE and moment or nil
end

-- Notes a hold of another program. Returns for how long its value has been there, as far as clients of dlock have seen.
local function note_foreign()
  local seen = string.sub(value, 1, 64)
  local first, of = match(get1('b') or '', '^%d+ (%d+) (.*)$')
  if of ~= seen then first = real end
  set('b', fmt('%d %d ', real, first) .. seen)
  set('p', fmt('%d', real))
  return real - first
end

-- For how long clients of dlock may hand the mutex over without a free window: as long as other programs have been absent.
local function apart()
  local seen = tonumber(match(get1('b') or '', '^%d+') or 0)
  return seen > 0 and seen <= real and max(APART_LEAST, min(real - seen, APART_MOST)) or APART_MOST
end

-- The mutex is free: it goes to the first in the queue, or stays free for a window.
local function serve()
  giving = true
  if value or free_until() then return end
  local first = front(W)
  if not first then
    if get1('p') then set('p', '') end
    return
  end
  local since, span = tonumber(get1('p') or real), apart()
  if get1('q') then
    -- A plain `SET` has taken the last window: it did not count, and the next one comes soon.
    set('q', '')
    since = real - span + APART_LEAST
    set('p', fmt('%d', since))
  elseif not get1('p') then
    set('p', fmt('%d', real))
  end
  if real - since < span and since <= real then return pass_on() end
  set('q', fmt('%d', real + FREE))
  set('p', fmt('%d', real + FREE))
  commit(true)
  told(first, first.id) -- So that it looks when the window is over.
end
