-- Reads the state of a mutex; changes nothing.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash, which may be left out
-- ARGV  1 how many waiters to list at most
-- Returns  as inspect.lua does; a hold that has no token, such as that of another program, has 0
local call = redis.call
local key, lock, id, owner, pub, known = KEYS[1], KEYS[2], '', '', nil, {}
local time = call('TIME')
if not lock then
  local value, holds = call('GETEX', key), {} -- Perhaps marked: see mutex/string.lua.
  local own = value and string.match(value, '^([%w.:_-]*/' .. string.rep('%x', 16) .. '/%x+)%+$')
  if value then holds = {own or value, 'w', math.min(math.max(call('PTTL', key), 0), 1000000000000) * 1000, 0, 0, ''} end
  return {0, holds, {}, 0, 0}
end
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit string line
local most, holds, waiters, seen = tonumber(ARGV[1]), {}, {}, 0
if value then holds = {value, 'w', left, 0, 0, ''} end
pass_along(W, W.head, W.tail, 8 * PIECE, function(_, waiter)
  if #waiters >= 4 * most then return true end
  seen = seen + (waiter and 1 or 0)
  if waiter and waiter.deadline > now then
    for _, part in ipairs({waiter.id, 'w', waiter.deadline - now, max(now - waiter.since, 0)}) do
      waiters[#waiters + 1] = part
    end
  end
end)
return {last, holds, waiters, 0, W.count - seen}
end)()
