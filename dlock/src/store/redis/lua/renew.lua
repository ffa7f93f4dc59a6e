-- Extends a hold's lease from now; never shortens it.
--
-- KEYS  lock (see common.lua)
-- ARGV  1 hold id, 2 lease in us
-- Returns  1 renewed | 0 lost: no such hold, or its lease had already passed
local call = redis.call
local lock, id, lease = KEYS[1], ARGV[1], ARGV[2]
local f = call('HMGET', lock, 't', '=' .. id, 'x', '+' .. id)
local alone, recorded = f[2], f[4]
if not (alone or recorded) then return 0 end
local time = call('TIME')
local now, last = time[1] * 1000000 + time[2], tonumber(f[1])
if now < last then now = last end
local deadline = now + lease

local latest
if alone then
  local mode, left, label = string.match(alone, '^(%a) (%d+) (.*)$')
  local old = last + left
  if old <= now then return 0 end
  if deadline <= old then return 1 end
  latest = deadline
  call('HSET', lock, '=' .. id, string.format('%s %d ', mode, deadline - last) .. label)
else
  local mode, old, rest = string.match(recorded, '^(%a) (%d+) (.*)$')
  if tonumber(old) <= now then return 0 end
  if deadline <= tonumber(old) then return 1 end
  latest = math.max(tonumber(f[3]), deadline)
  call('HSET', lock, 'x', string.format('%d', latest), '+' .. id,
    string.format('%s %d ', mode, deadline) .. rest)
end
call('PEXPIREAT', lock, string.format('%d', math.floor(latest / 1000) + 1001))
return 1
