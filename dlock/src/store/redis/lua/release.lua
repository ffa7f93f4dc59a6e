-- Gives a hold back and wakes those it lets in.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 last token handed out under this hold, 3 publish command, 4 channel stem
-- Returns  {1} released | {0} no such hold: released before, or expired and cleared away
local lock, id = KEYS[1], ARGV[1]
local f = redis.call('HMGET', lock, '+' .. id, 't', 'w', 'r', 'q')
if not f[1] then return {0} end

-- The only hold, nobody waits: the uncontended path. An expired hold takes the long way.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = tonumber(f[2])
if now < last then now = last end
local alone = f[3] and not f[4] and string.match(f[3], '^%d+ (%d+)') == '1'
if not f[5] and tonumber(string.match(f[1], '^%a (%d+)')) > now and (alone or not f[3]) then
  if tonumber(ARGV[2]) > last then redis.call('HSET', lock, 't', ARGV[2]) end
  if alone or f[4] == '1' then
    redis.call('HDEL', lock, '+' .. id, alone and 'w' or 'r', 'x')
    redis.call('PEXPIRE', lock, 1000)
  else
    redis.call('HDEL', lock, '+' .. id)
    redis.call('HINCRBY', lock, 'r', -1)
  end
  return {1}
end

local publish, channel = ARGV[3], ARGV[4]
-- include: common.lua
local holds = load_holds()
local held = holds.by_id[id]
if held then
  if tonumber(ARGV[2]) > last then redis.call('HSET', lock, 't', ARGV[2]) end
  drop_hold(holds, id)
end
if f[5] then wake(holds) end
return {held and 1 or 0}
