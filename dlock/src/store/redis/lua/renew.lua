-- Extends a hold's lease from now; never shortens it.
--
-- KEYS  lock (see common.lua)
-- ARGV  1 hold id, 2 lease in us
-- Returns  {1} renewed | {0} lost: no such hold, or its lease had already passed
local lock, id = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local f = redis.call('HMGET', lock, '+' .. id, 't', 'x')
if not f[1] then return {0} end
local last, latest = tonumber(f[2]), tonumber(f[3])
if now < last then now = last end
local mode, old, rest = string.match(f[1], '^(%a) (%d+) (.*)$')
if tonumber(old) <= now then return {0} end
local deadline = now + tonumber(ARGV[2])
if deadline <= tonumber(old) then return {1} end
if latest < deadline then latest = deadline end
redis.call('HSET', lock, 'x', string.format('%d', latest), '+' .. id, string.format('%s %d ', mode, deadline) .. rest)
redis.call('PEXPIREAT', lock, string.format('%d', math.ceil(latest / 1000) + 1000))
return {1}
