-- Undoes the acquire of a mutex in whatever state it is: releases the hold, or leaves the queue.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash, which may be left out
-- ARGV  1 hold id, 2 until when (server's time) the acquire must have no effect; 0 = it is not under way any more,
--       3 how to publish (see acquire.lua)
-- Returns  1 a hold was released or a queue position removed
--          {1, {channel, message, ...}}  as 1, with the messages to publish
--          0 there was neither
local call = redis.call
local key, lock, id, till = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
if not lock or till == 0 and call('HLEN', lock) == 0 then
  local value = call('GETEX', key) -- A look that only a master allows.
  if value ~= id and value ~= id .. '+' then return 0 end -- Marked or not: see mutex/string.lua.
  return call('DEL', key)
end
local time, pub, owner, known = call('TIME'), ARGV[3], '', {}
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit string line telling tombs moments
sweep(W)
local mine, place = value == id, place_of(id)
if till > 0 then bury(till) end
if place then leave(place) end
if mine then unhold() end
if mine or place then serve() end
if giving or till > 0 then commit(true) end
return giving and (notes and {1, notes} or 1) or 0
end)()
