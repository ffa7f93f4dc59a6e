-- Reads the state of a lock; changes nothing.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- Returns  {last token, holds, waiters}
--          holds    flat: id, mode, us left, token, owner ('' = the hold stands for itself), ...
--          waiters  flat, writers first, each queue in order: id, mode, us left of the place, ...
local call = redis.call
local lock, line = KEYS[1], KEYS[2]
local time = call('TIME')
local now, last = time[1] * 1000000 + time[2], tonumber(call('HGET', lock, 't')) or 0
if now < last then now = last end
local holds, waiters = {}, {}
local function add(list, id, mode, left, ...)
  if left <= 0 then return end
  for _, value in ipairs({id, mode, left, ...}) do list[#list + 1] = value end
end
local all = call('HGETALL', lock)
for i = 1, #all, 2 do
  local kind = string.byte(all[i])
  if kind == 61 then -- '='
    local mode, left, owner = string.match(all[i + 1], '^(%a) (%d+) (.*)$')
    add(holds, string.sub(all[i], 2), mode, last + left - now, last, owner)
  elseif kind == 43 then -- '+'
    local mode, deadline, token, owner = string.match(all[i + 1], '^(%a) (%d+) (%d+) (.*)$')
    add(holds, string.sub(all[i], 2), mode, deadline - now, tonumber(token), owner)
  end
end
for i, mode in ipairs({'w', 'r'}) do
  for _, id in ipairs(call('ZRANGE', KEYS[i + 2], 0, -1)) do
    local deadline = string.match(call('HGET', line, id) or '0', '^%d+')
    add(waiters, id, mode, deadline - now)
  end
end
return {last, holds, waiters}
