-- Gives a hold back and passes the lock on. Clients first try `HDEL <lock> =<hold id>`, which does the same if
-- it is the only hold, nobody waits, and there is nothing else to note.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua); or the lock alone
-- ARGV  1 hold id; may end here, otherwise 2 in how many ms to forget the lock if that leaves it free
--       ('' = when it expires anyway), 3 last token handed out under this hold (0 = none but the
--       granted one); with all keys: 4 publish command, 5 channel stem
-- Returns  1    released: until now nobody else could have got it, even if its lease is over
--          0    no such hold: released before, or expired and cleared away
--          {9}  the line's keys are needed, and nothing was done
local call = redis.call
local lock, id = KEYS[1], ARGV[1]
local forget, handed = ARGV[2] or '', tonumber(ARGV[3] or 0)
local publish, channel = ARGV[4], ARGV[5]
local f = call('HMGET', lock, 't', '+' .. id, 'w', 'r', 'q', '=' .. id)
local alone = f[6]

-- The only hold, and nobody waits.
if alone then
  call('HDEL', lock, '=' .. id)
  if handed > 0 then
    local last = tonumber(f[1])
    local latest = last + string.match(alone, '^%a (%d+)')
    if handed > last then call('HSET', lock, 't', string.format('%d', handed)) end
    if handed > latest then
      call('PEXPIREAT', lock, string.format('%d', math.floor(handed / 1000) + 1001))
    end
  end
  if forget ~= '' then call('PEXPIRE', lock, forget) end
  return 1
end

if not f[2] then return 0 end
local time = call('TIME')

-- The only write hold, and only writers wait: pass_on() of common.lua in fewer steps and without numbers, because
-- the next holder waits for this script. The old hold goes first: if Redis refuses writes, it must before anybody
-- is told.
local only_writer = f[3] == '1' and not f[4] and handed == 0
if only_writer and f[5] == 'w' and KEYS[2] and publish ~= '' then
  local us = time[2]
  if #us < 6 then us = string.rep('0', 6 - #us) .. us end
  local token = time[1] .. us
  local writer = token > f[1] and call('ZRANGE', KEYS[3], 0, 0)[1]
  if writer then
    local deadline, label = string.match(call('HGET', KEYS[2], writer) or '0 ', '^(%d+) (.*)$')
    if deadline > token then
      call('HDEL', lock, '+' .. id)
      local to = channel .. (string.match(writer, '^(.*)/') or writer)
      local heard = redis.pcall(publish, to, writer .. ' ' .. token)
      if type(heard) == 'number' and heard > 0 then
        call('HSET', lock, 't', token, '+' .. writer, 'w ' .. deadline .. ' ' .. token .. ' ' .. label)
        call('ZREM', KEYS[3], writer)
        call('HDEL', KEYS[2], writer)
        return 1
      end
    end
  end
end

local now, last = time[1] * 1000000 + time[2], tonumber(f[1])
if now < last then now = last end

-- One of several readers of whom none has expired, or the last of them: O(1).
if f[4] and not (f[3] or f[5]) and handed == 0 then
  local count, earliest = string.match(f[4], '^(%d+) (%d+)$')
  if count == '1' then
    call('HDEL', lock, '+' .. id, 'r', 'x')
    if forget ~= '' then call('PEXPIRE', lock, forget) end
    return 1
  elseif tonumber(earliest) > now then
    call('HDEL', lock, '+' .. id)
    call('HSET', lock, 'r', string.format('%d %s', count - 1, earliest))
    return 1
  end
end

-- The only write hold, and nobody waits.
if only_writer and not f[5] then
  call('HDEL', lock, '+' .. id, 'w', 'x')
  if forget ~= '' then call('PEXPIRE', lock, forget) end
  return 1
end

if not KEYS[2] then return {9} end
-- include: common.lua
load_holds()
if handed > last then
  last = handed
  promise(last)
end
if holds.by_id[id] then drop_hold(id) end
pass_on()
save()
if forget ~= '' and not (holds.list[1] or holds.waiting) then call('PEXPIRE', lock, forget) end
return 1
