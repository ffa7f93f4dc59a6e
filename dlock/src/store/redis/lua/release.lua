-- Releases a hold, and lets the next waiters in. Clients first try `HDEL <lock> =<hold id>`, which is enough if it is
-- the only hold, the queue is empty, and no tombstone is due.
--
-- KEYS  lock (see common/record.lua)
-- ARGV  1 hold id, 2 in how many ms to forget the lock if that leaves it free ('' = when it expires anyway),
--       3 until when (server's time) an acquire with this id must have no effect (0 = none is on its way), 4 how to
--       publish (see acquire.lua), 5 there if the holder has used tokens that the server did not name: up to which of
--       the server's
-- Returns  1  released: until now no other client could have got the lock, even if its lease is over
--          3  released: it was the only hold, and the queue was empty
--          {1, {channel, message, ...}}  as 1, with the messages to publish
--          0  no such hold: released before, or expired and cleared away
local call = redis.call
local lock, id = KEYS[1], ARGV[1]
local till, pub, spent = tonumber(ARGV[3]), ARGV[4], ARGV[5]
local short = call('HMGET', lock, 't', '=' .. id, 'h', 'w', 'r', '+' .. id, 'o', 'x', 'e', 'n')
for i = 2, 10 do
  if short[i] == '' then short[i] = false end -- void
end
local alone, h, w, mine = short[2], short[3], short[4], short[6]

local function write(changes)
  if type(redis.pcall('HSET', lock, unpack(changes))) == 'table' then
    call('HDEL', lock, '') -- Opens a server that is out of memory.
    call('HSET', lock, unpack(changes))
  end
end

-- The only hold, and an empty queue.
if alone and not h and till == 0 and not spent then
  call('HDEL', lock, '=' .. id)
  if ARGV[2] ~= '' then call('PEXPIRE', lock, ARGV[2]) end
  return 3
end
if not mine and (h or not alone) and till == 0 then
  call('HDEL', lock, '') -- Only a master may say so.
  return 0
end
-- A function of its own: the short way does not pay for its many variables.
return (function()
local time = call('TIME')

-- The only write hold, and only writers wait: pass_on() of common/telling.lua in fewer steps and without numbers,
-- because the next holder waits for this script.
local owner, unheard = '', nil
local us = time[2]
if #us < 6 then us = string.rep('0', 6 - #us) .. us end
local token = time[1] .. us
local noted = short[10]
local simple = till == 0 and not spent and mine and not short[7] and not (noted and noted > token) -- The clock has not been set back.
if simple and w and not short[5] and string.sub(h, 1, 6) == '1 0 1 ' then
  local kind = string.byte(pub)
  local count, head, front, tail = string.match(w, '^1 (%d+) (%d+) (%d+) (%d+)$')
  local until_then = string.match(mine, '^w (%d+) %d+ %d+ $')
  local record = (kind == 83 or kind == 115 or kind == 80 or kind == 112) and redis.set_repl -- 'S', 's', 'P', 'p'
    and token > short[1] and #token == #short[1]
    and until_then and until_then > token and front and call('HGET', lock, 'W' .. front)
  if record and record ~= '' then
    local who, deadline, before, ear, nonce, since, of = string.match(record,
      '^(%S+) (%d+) (%d+) (%d) (%S+) (%d+) (.*)$')
    if deadline > token and ear ~= '2' and of == '' then
      local after = count ~= '1'
        and string.format('1 %d %d %d %s', count - 1, head == front and front + 1 or head, front + 1, tail) or ''
      local changes = {'t', token, '+' .. who, 'w ' .. deadline .. ' ' .. token .. ' 1 ', 'h1', who,
        'h', '1 0 1 ' .. deadline .. (string.byte(who, -1) == 126 and '~' or ''), 'w', after, '+' .. id, '', 'W' .. front, '', '?' .. who, ''}
      write(changes)
      if after == '' then
        call('HDEL', lock, '+' .. id, 'W' .. front, '?' .. who, 'w')
      else
        call('HDEL', lock, '+' .. id, 'W' .. front, '?' .. who)
      end
      local prefix = string.sub(pub, 2)
      local channel = string.sub(lock, 1, prefix) .. '~c' .. (kind < 97 and string.sub(lock, prefix + 1) or '') .. ':'
        .. (string.match(who, '^(.*)/') or who)
      redis.set_repl(redis.REPL_NONE) -- As in common/telling.lua.
      local command = (kind == 83 or kind == 115) and 'SPUBLISH' or 'PUBLISH'
      local heard = redis.pcall(command, channel, who .. ' ' .. nonce .. ' ' .. token)
      redis.set_repl(redis.REPL_ALL)
      if type(heard) == 'number' and heard > 0 then return 1 end
      unheard = {id = who, i = tonumber(front), deadline = tonumber(deadline), before = tonumber(before), ear = ear,
        nonce = nonce, since = since, owner = ''}
      id = who
    end
  end
end


-- The queue is empty and no hold can have expired: one of several is removed, or the only one. The last of the list gets
-- the number of the removed one.
if simple and not (w or short[5] or short[9]) and #token == #short[1] and token > short[1] then
  local reads, writes, earliest, lingers = string.match(h, '^1 (%d+) (%d+) (%d+)(~?)$')
  local mode, k = string.match(mine, '^(%a) %d+ %d+ (%d+) $')
  local x = short[8]
  if mode and earliest and earliest > token and x and x - short[1] <= 60000000 then
    local n = reads + writes
    if n == 1 then
      local gone = {'h', 'h1', '+' .. id, 'x', noted and 'n' or nil}
      write({'h', '', 'h1', '', '+' .. id, '', 'x', '', gone[5], gone[5] and ''})
      call('HDEL', lock, unpack(gone))
      if ARGV[2] ~= '' then call('PEXPIRE', lock, ARGV[2]) end
      return 1
    elseif mode == 'r' and writes == '0' then
      local changes = {'h', '1 ' .. n - 1 .. ' 0 ' .. earliest .. lingers, '+' .. id, '', 'h' .. n, ''}
      if tonumber(k) < n then
        local moved = call('HGET', lock, 'h' .. n)
        local before, after = string.match(call('HGET', lock, '+' .. moved), '^(%a %d+ %d+ )%d+( .*)$')
        changes[7], changes[8], changes[9], changes[10] = 'h' .. k, moved, '+' .. moved, before .. k .. after
      end
      write(changes)
      call('HDEL', lock, '+' .. id, 'h' .. n)
      return 1
    end
  end
end
local known = {}
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds line telling tombs only_hold
if unheard then
  unheard.line = W
  if not f[3] then W.head, W.front, W.tail = unheard.i, unheard.i + 1, unheard.i end
  giving = true
  if take_back(unheard) then pass_on() end
  commit(true)
else
  refused = not h and list_only_hold(call('HLEN', lock))
  if refused then return redis.error_reply(refused) end
  mine = live_hold(id)
  if till > 0 then bury(till) end
  if mine then
    sweep(W)
    sweep(R)
    if spent then pass(min(tonumber(spent), mine.deadline - 1)) end
    give_back(mine)
  end
  if mine or till > 0 then commit(true) end
  if not mine then
    call('HDEL', lock, '')
    return 0
  end
end
if ARGV[2] ~= '' and offset == 0 and not (f[2] or f[3] or f[4]) then call('PEXPIRE', lock, ARGV[2]) end
return notes and {1, notes} or 1
end)()
end)()
