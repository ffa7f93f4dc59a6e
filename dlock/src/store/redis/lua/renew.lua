-- Extends a hold's lease from now; never shortens it.
--
-- KEYS  lock (see common.lua)
-- ARGV  1 hold id, 2 lease in us
-- Returns  1 renewed | 0 lost: no such hold, or its lease had already passed
local call = redis.call
local lock, id, lease = KEYS[1], ARGV[1], tonumber(ARGV[2])
local short = call('HMGET', lock, 't', '=' .. id, '+' .. id, 'h', 'x', 'o')
for i = 2, 6 do
  if short[i] == '' then short[i] = false end -- void
end
local alone, mine = not short[4] and short[2], short[3]
if not (alone or mine) then return 0 end
local time = call('TIME')
local at, token = time[1] * 1000000 + time[2], tonumber(short[1])

-- The lock's time is the server's, and the key lives long enough or nobody else is there. The expiry first: it opens
-- a server that is out of memory.
if not short[6] and at >= token then
  local deadline, changes = at + lease, nil
  if alone then
    local mode, left, owner = string.match(alone, '^(%a) (%d+) (.*)$')
    if not mode then mode, left, owner = 'w', (alone - 1001) * 1000, '' end
    if token + left <= at then return 0 end
    if deadline <= token + left then return 1 end
    call('PEXPIREAT', lock, string.format('%d', math.floor(deadline / 1000) + 1001))
    changes = {'=' .. id, string.format('%s %d ', mode, deadline - token) .. owner}
  elseif short[5] and deadline <= tonumber(short[5]) then
    local mode, old, rest = string.match(mine, '^(%a) (%d+) (.*)$')
    if tonumber(old) <= at then return 0 end
    if deadline <= tonumber(old) then return 1 end
    changes = {'+' .. id, string.format('%s %d ', mode, deadline) .. rest}
  end
  if changes then
    if type(redis.pcall('HSET', lock, unpack(changes))) == 'table' then
      call('HDEL', lock, '')
      call('HSET', lock, unpack(changes))
    end
    return 1
  end
end

local owner, pub, known = '', nil, {}
-- include: common.lua
refused = not f[2] and list_only_hold(call('HLEN', lock))
if refused then return redis.error_reply(refused) end
mine = live_hold(id)
if not mine then return 0 end
local deadline = max(mine.deadline, now + lease)
set('+' .. id, fmt('%s %d %d %d ', mine.mode, deadline, mine.token, mine.k) .. mine.owner)
promise(deadline)
commit(true)
return 1
