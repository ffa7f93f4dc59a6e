-- Extends the hold of a mutex from now on. Shortens it only on request, by a client that does not rely on it any more. Then it
-- writes a tombstone, so that delayed duplicates change nothing.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash, which may be left out: then no token is remembered
-- ARGV  1 hold id, 2 lease in ms, 3 '1' if the hold has a token, which is remembered for as long, 4 given if the lease is to end
--       then: until when (server's time) an acquire with this id must have no effect (0 = none is on its way)
-- Returns  1 renewed | 0 lost: no such hold
local call = redis.call
local key, lock, id, span, till = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4] or '')
local ends = lock and till
local found = call('GETEX', key) -- Only a master carries this out.
if found ~= id and found ~= id .. '+' and not ends then return 0 end -- Marked or not: see mutex/string.lua.
local noted, time, at = lock and call('HMGET', lock, 't', 'x', 'o', '-' .. id, 'n') or {}, nil, 0
for i = 1, 5 do
  if noted[i] == '' then noted[i] = false end -- void
end
if noted[1] then
  time = call('TIME')
  at = time[1] * 1000000 + time[2]
end
local ahead = tonumber(noted[3] or 0)
if not ends and at + ahead >= tonumber(noted[1] or 0) and at + ahead >= tonumber(noted[5] or 0) then
  if noted[4] and tonumber(noted[4]) > at then return 1 end -- Its end is settled.
  if till or call('PTTL', key) < span then call('PEXPIRE', key, ARGV[2]) end
  if noted[1] and ARGV[3] == '1' then
    local keep = at + ahead + span * 1000
    if tonumber(noted[2] or 0) < keep then
      keep = keep + 10000000 -- As SLACK of lua/common.
      call('PEXPIREAT', lock, string.format('%d', math.floor((keep - ahead) / 1000) + 1001))
      call('HSET', lock, 'x', string.format('%d', keep))
    end
  end
  return 1
end
local owner, pub, known = '', nil, {}
time = time or call('TIME')
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit string line tombs
local mine, ended = value == id, tonumber(f[11] or 0) > real
if mine and (till and (not ended or left > span * 1000) or not (till or ended) and left < span * 1000) then
  call('PEXPIRE', key, ARGV[2])
  left = span * 1000
  earliest = now + left
end
if mine and ARGV[3] == '1' and f[1] and (till or not ended) then promise(now + left) end
if mine and till then
  if get1('g') then set('g', '') end
  local own = place_of(id)
  if own then leave(own) end -- A waiter that took the mutex past its own place; see mutex/release.lua.
  local last_millis = math.floor(real / 1000) + left / 1000
  set('i', fmt('%d ', last_millis) .. id)
  till = max(till, min(last_millis * 1000, real + MEMORY))
end
if till then bury(till) end
if mine or till > 0 then commit(true) end
return mine and 1 or 0
end)()
