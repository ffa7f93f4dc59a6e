-- Extends a mutex' hold from now; shortens it only if that is asked for, by who has stopped to rely on it.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash if it has a token, which is remembered for as long
-- ARGV  1 hold id, 2 lease in ms, 3 there if the lease is to end just then
-- Returns  1 renewed | 0 lost: no such hold
local call = redis.call
local key, lock, millis = KEYS[1], KEYS[2], tonumber(ARGV[2])
if call('GETEX', key) ~= ARGV[1] then return 0 end -- A look that only a master allows.
if ARGV[3] or call('PTTL', key) < millis then call('PEXPIRE', key, ARGV[2]) end
if lock then
  -- A second more, and what a clock that is set back may take away.
  local time, kept = call('TIME'), call('HMGET', lock, 'x', 'o', 't')
  if kept[3] then
    local offset = tonumber(kept[2]) or 0 -- May be void, as may be `x`.
    local keep = time[1] * 1000000 + time[2] + offset + millis * 1000
    if (tonumber(kept[1]) or 0) < keep then
      keep = keep + 10000000
      call('PEXPIREAT', lock, string.format('%d', math.floor((keep - offset) / 1000) + 1001))
      call('HSET', lock, 'x', string.format('%d', keep))
    end
  end
end
return 1
