-- Reads the state of a lock; changes nothing.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- Returns  {last token, holds, waiters}
--          holds    flat: id, mode, us left, token, owner ('' = the hold stands for itself), ...
--          waiters  flat, writers first, each queue in order: id, mode, us left of the place, ...
local lock, line = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('HGET', lock, 't')) or 0
if now < last then now = last end
local holds, waiters = {}, {}
local all = redis.call('HGETALL', lock)
for i = 1, #all, 2 do
  if string.byte(all[i]) == 43 then -- '+'
    local mode, deadline, token, owner = string.match(all[i + 1], '^(%a) (%d+) (%d+) (.*)$')
    local left = tonumber(deadline) - now
    if left > 0 then
      for _, v in ipairs({string.sub(all[i], 2), mode, left, tonumber(token), owner}) do
        holds[#holds + 1] = v
      end
    end
  end
end
for i, mode in ipairs({'w', 'r'}) do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[i + 2], 0, -1)) do
    local left = (tonumber(redis.call('HGET', line, id)) or 0) - now
    if left > 0 then
      for _, v in ipairs({id, mode, left}) do waiters[#waiters + 1] = v end
    end
  end
end
return {last, holds, waiters}
