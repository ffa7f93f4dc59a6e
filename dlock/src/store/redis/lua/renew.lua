-- Extends a hold's lease from now; shortens it only if that is asked for, by who has stopped to rely on it. Then a note
-- (`-<id>`) stays, by which copies that come later change nothing.
--
-- KEYS  lock (see common/record.lua)
-- ARGV  1 hold id, 2 lease in ms + 1001: how long the key lives after that, 3 there if the lease is to end just then:
--       until when (server's time) an acquire with this id must have no effect (0 = none is on its way)
-- Returns  1 renewed | 2 renewed, and others wait: said of holds that linger (see common/record.lua) |
--          0 lost: no such hold, or its lease had already passed
local call = redis.call
local renewed = 1
local lock, id, ttl, exactly = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3] or '')
local field, mine, x, ended, noted = '=' .. id, nil, nil, nil, nil
local short = call('HMGET', lock, 't', field, 'o')
-- Only a master may say that a hold is lost.
local function lost()
  call('HDEL', lock, '')
  return 0
end

local alone = short[2]
if alone == '' then alone = false end -- void
if not alone then
  field = '+' .. id
  local fields = {field, 'x', '-' .. id, 'n'}
  if string.byte(id, -1) == 126 then fields[5], fields[6] = 'w', 'r' end -- '~'
  local long = call('HMGET', lock, unpack(fields))
  if (long[5] or '') .. (long[6] or '') ~= '' then renewed = 2 end
  mine, x, ended, noted = long[1], long[2], long[3] and long[3] ~= '', long[4]
  if (not mine or mine == '') and (exactly or 0) == 0 then return lost() end
end
local time = call('TIME')
local at, token, lease = time[1] * 1000000 + time[2], tonumber(short[1]), (ttl - 1001) * 1000
local NOTED = 500000 -- As in common/record.lua.

-- The lock's time is the server's, and the key lives long enough or this is the only hold. The expiry first: it opens
-- a server that is out of memory.
if not exactly and not ended and (not short[3] or short[3] == '') and at >= token then
  local deadline, changes = at + lease, nil
  if alone then
    local mode, left, seen, owner = string.match(alone, '^(%a) (%d+) (%d+) (.*)$')
    if not mode then mode, left, seen, owner = 'w', (alone - 1001) * 1000, 0, '' end
    if at >= token + seen then
      if token + left <= at then return lost() end
      if deadline <= token + left then return renewed end
      if at - token - seen >= NOTED then seen = at - token end
      call('PEXPIRE', lock, ttl)
      changes = {field, string.format('%s %d %d ', mode, deadline - token, seen) .. owner} -- an owner may have a NUL in it
    end
  elseif x and x ~= '' and deadline <= tonumber(x) then
    if not noted or noted == '' then noted = 0 end
    if at - noted >= 0 then
      local mode, old, rest = string.match(mine, '^(%a) (%d+) (.*)$')
      if tonumber(old) <= at then return lost() end
      if deadline <= tonumber(old) then return renewed end
      changes = {field, string.format('%s %d ', mode, deadline) .. rest}
      if at - token >= NOTED and at - noted >= NOTED then changes[3], changes[4] = 'n', string.format('%d', at) end
    end
  end
  if changes then
    if type(redis.pcall('HSET', lock, unpack(changes))) == 'table' then
      call('HDEL', lock, '')
      call('HSET', lock, unpack(changes))
    end
    return renewed
  end
end

local owner, pub, known = '', nil, {}
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds tombs only_hold
refused = not f[2] and list_only_hold(call('HLEN', lock))
if refused then return redis.error_reply(refused) end
mine = live_hold(id)
if not mine then
  -- What has found nothing leaves nothing behind, also not in the lock's time.
  if exactly and exactly > 0 then
    bury(exactly)
    commit(true)
  end
  return lost()
end
ended = tonumber(f[11] or 0) > real
local deadline = now + lease
if exactly then
  if ended then deadline = min(mine.deadline, deadline) end
  bury(max(exactly, min(deadline - offset, real + MEMORY)))
else
  deadline = ended and mine.deadline or max(mine.deadline, deadline)
end
write_hold(id, mine.mode, deadline, mine.token, mine.k, mine.owner)
if deadline > mine.deadline then note_time() end
if exactly then note_earliest(deadline) end
promise(deadline)
commit(true)
return renewed
end)()
