-- Gives a hold back and wakes those it lets in.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua); or the lock alone
-- ARGV  1 hold id, 2 last token handed out under this hold, 3 publish command, 4 channel stem
-- Returns  {1} released | {0} no such hold: released before, or expired
--          {9} the line's keys are needed, and nothing was done
local lock, id = KEYS[1], ARGV[1]
local f = redis.call('HMGET', lock, '+' .. id, 't', 'w', 'r', 'q')
if not f[1] then return {0} end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last, handed = tonumber(f[2]), tonumber(ARGV[2])
if now < last then now = last end
if tonumber(string.match(f[1], '^%a (%d+)')) <= now then return {0} end

-- Nobody waits, and no hold beside this one can have expired: the uncontended path.
local alone, shared, count, earliest = false, false, nil, nil
if not f[5] then
  if f[4] then
    count, earliest = string.match(f[4], '^(%d+) (%d+)$')
  end
  alone = f[3] == '1' and not f[4] or count == '1' and not f[3]
  shared = count and not f[3] and tonumber(earliest) > now
end
if not (alone or shared or KEYS[2]) then return {9} end

if last < handed then
  last = handed
  redis.call('HSET', lock, 't', last)
end
if alone then
  redis.call('HDEL', lock, '+' .. id, f[3] and 'w' or 'r', 'x')
  redis.call('PEXPIREAT', lock, string.format('%d', math.ceil(math.max(now, last) / 1000) + 1000))
  return {1}
elseif shared then
  redis.call('HDEL', lock, '+' .. id)
  redis.call('HSET', lock, 'r', string.format('%d %s', count - 1, earliest))
  return {1}
end

local publish, channel = ARGV[3], ARGV[4]
-- include: common.lua
local holds = load_holds()
drop_hold(holds, id)
pass_on(holds)
return {1}
