-- Extends a hold's lease from now; never shortens it.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 lease in us
-- Returns  {1} renewed | {0} lost: no such hold, or its lease had already passed
local lock, id = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local f = redis.call('HMGET', lock, '+' .. id, 't', 'w', 'r', 'x')
if not f[1] then return {0} end
local last = tonumber(f[2])
if now < last then now = last end
local mode, old, rest = string.match(f[1], '^(%a) (%d+) (.*)$')
old = tonumber(old)
if old <= now then return {0} end
local deadline = now + tonumber(ARGV[2])
if deadline < old then deadline = old end
local latest = tonumber(f[5])
if deadline > latest then latest = deadline end
local fields = {'+' .. id, string.format('%s %.0f %s', mode, deadline, rest), 'x', latest}
if mode == 'w' then
  local until_, others = string.match(f[3], '^(%d+) (.*)$')
  fields[5] = 'w'
  fields[6] = string.format('%.0f %s', math.max(deadline, tonumber(until_)), others)
end
redis.call('HSET', lock, unpack(fields))
redis.call('PEXPIRE', lock, math.ceil((latest - now) / 1000) + 1000)
return {1}
