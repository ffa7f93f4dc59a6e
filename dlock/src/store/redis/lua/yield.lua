-- At the end of a local slice: lets waiters in if there are any, otherwise extends the hold.
--
-- KEYS  lock (see common/record.lua)
-- ARGV  1 hold id, 2 lease in us, 3 the last token that the server named for this hold: if it has named another since,
--       this is a delayed duplicate, which must not release, 4 until when (server's time) an acquire with this id must have no
--       effect if this releases (0 = none is on its way), 5 how to publish (see acquire.lua), 6 up to which token (see
--       release.lua)
-- Returns  token  the queue is empty: the hold goes on, extended, with a fresh token (a delayed duplicate: the last one)
--          {2, {channel, message, ...}}  there are waiters, and perhaps messages to publish. A write hold has been
--                 released to them; a read hold stays until its readers leave, but must not be joined any more
--          0      no such hold: released before, or expired
local call = redis.call
local lock, id, pub = KEYS[1], ARGV[1], ARGV[5]
local lease, seen, till = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local owner, known, fields = '', {}, call('HLEN', lock)
if fields == 0 then
  call('HDEL', lock, '') -- Only a master may say so.
  return 0
end
local time = call('TIME')
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds line telling tombs only_hold
local sole = not f[2] and fields == 2 and get1('=' .. id)
refused = list_only_hold(fields)
if refused then return redis.error_reply(refused) end
sweep(W)
sweep(R)
if writes > 0 then review() end
local mine = live_hold(id)
if not mine then
  call('HDEL', lock, '')
  return 0
end
local mode, token, of = mine.mode, mine.token, mine.owner
if token == seen then
  if ARGV[6] then pass(min(tonumber(ARGV[6]), mine.deadline - 1)) end
  local wanted = front(W) or mode == 'w' and front(R)
  if wanted then
    if mode == 'w' then
      if till > 0 then bury(till) end
      give_back(mine)
    end
    commit(true)
    return {2, notes or nil}
  end
  last = max(now, last + 1)
  token = last
end
local deadline = max(mine.deadline, now + lease)
if sole and not pending.o then -- It stays the only one.
  call('PEXPIREAT', lock, fmt('%d', math.floor(max(deadline, last) / 1000) + 1001))
  call('HSET', lock, 't', fmt('%d', last), '=' .. id,
    fmt('%s %d %d ', mode, max(deadline - last, 0), max(noted - last, 0)) .. of)
  return token
end
set('t', fmt('%d', last))
write_hold(id, mode, deadline, token, mine.k, of)
promise(deadline)
commit(true)
return token
end)()
