-- Releases a mutex, and hands it over to the first in the queue.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash, which may be left out: then no waiter is notified
-- ARGV  1 hold id, 2 how to publish (see acquire.lua), 3 until when (server's time) an acquire with this id must have no
--       effect; left out if none is on its way
-- Returns  1 released | 2 released, and there are waiters | {1 or 2, {channel, message, ...}} with the messages to publish
--          | 0 no such hold
local call, match, max, min = redis.call, string.match, math.max, math.min
local key, lock, id, till = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[3] or 0)
-- The fields of the hash that are read, in one command. (A mutex has no readers and no other holds in it.)
local fields = {'t', 'w', 'x', 'o', 'z', '?' .. id, '-' .. id, 'q', 'p', 'b', 'g', 'n', 'h'}
local owner, known = '', {r = '', e = '', ['@'] = '', ['+' .. id] = ''}
if lock then
  for i, value in ipairs(call('HMGET', lock, unpack(fields))) do known[fields[i]] = value or '' end
end
if not lock or till == 0 and known.t == '' then
  local value = call('GET', key)
  if value == id or value == id .. '+' then return call('DEL', key) end -- Marked or not: see mutex/string.lua.
  call('GETEX', key) -- Only a master may say so.
  return 0
end

-- The first in line may have it now: serve() of mutex/moments.lua in fewer steps, because the next holder waits for this
-- script.
local time, pub, unheard = call('TIME'), ARGV[2], nil
local us = time[2]
if #us < 6 then us = string.rep('0', 6 - #us) .. us end
local token, since = time[1] .. us, tonumber(known.p)
local kind = string.byte(pub)
local count, head, place, tail = match(known.w, '^1 (%d+) (%d+) (%d+) (%d+)$')
local grants = (kind == 83 or kind == 115 or kind == 80 or kind == 112) and redis.set_repl -- 'S', 's', 'P', 'p'
if till == 0 and since and tail and head == place and grants
  and known['?' .. id] .. known.q .. known.o == '' and #token == #known.t and token > known.t
  and (tonumber(known.n) or 0) <= tonumber(token) then
  local real, seen = tonumber(token), tonumber(match(known.b, '^%d+') or 0)
  local apart = seen > 0 and seen <= real and max(50000, min(real - seen, 5000000)) or 5000000
  local record = since <= real and real - since < apart and call('HGET', lock, 'W' .. place)
  if record and record ~= '' then
    local who, deadline, before, ear, nonce, waits, of = match(record, '^(%S+) (%d+) (%d+) (%d) (%S+) (%d+) (.*)$')
    local value = deadline > token and ear ~= '2' and of == '' and call('GETEX', key)
    if value and (value == id or value == id .. '+') then
      local rest = count ~= '1' and string.format('1 %d %d %d %s', count - 1, place + 1, place + 1, tail) or ''
      local changes = {'t', token, 'h', '1 0 1 ' .. deadline, 'g', deadline .. ' ' .. who, 'w', rest, 'W' .. place, '',
        '?' .. who, ''}
      call('HSET', lock, unpack(changes))
      local gone = {'W' .. place, '?' .. who, rest == '' and 'w' or nil}
      call('HDEL', lock, unpack(gone))
      call('SET', key, who .. '+', 'PX', string.format('%d', max(math.floor((deadline - real) / 1000), 1)))
      local prefix = string.sub(pub, 2)
      local channel = string.sub(lock, 1, prefix) .. '~c' .. (kind < 97 and string.sub(lock, prefix + 1) or '') .. ':'
        .. (match(who, '^(.*)/') or who)
      redis.set_repl(redis.REPL_NONE) -- As in common/telling.lua.
      local command = (kind == 83 or kind == 115) and 'SPUBLISH' or 'PUBLISH'
      local heard = redis.pcall(command, channel, who .. ' ' .. nonce .. ' ' .. token)
      redis.set_repl(redis.REPL_ALL)
      if type(heard) == 'number' and heard > 0 then return rest == '' and 1 or 2 end
      for i = 1, #changes, 2 do known[changes[i]] = changes[i + 1] end
      unheard = {id = who, i = tonumber(place), deadline = tonumber(deadline), before = tonumber(before), ear = ear,
        nonce = nonce, since = tonumber(waits), owner = ''}
    end
  end
end
return (function()
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit string line telling tombs moments
local mine = value == id
if unheard then
  mine, giving, unheard.line = true, true, W
  if not f[3] then W.head, W.front, W.tail = unheard.i, unheard.i + 1, unheard.i end
  if take_back(unheard) then pass_on() end
else
  if till > 0 then bury(till) end
  if mine then
    local own = place_of(id)
    if own then leave(own) end -- Who waited and then had the mutex by a plain `SET`.
    unhold()
    sweep(W)
    serve()
  end
end
if mine or till > 0 then commit(true) end
local waited_for = W.count > 0 and 2 or 1
return mine and (notes and {waited_for, notes} or waited_for) or 0
end)()
end)()
