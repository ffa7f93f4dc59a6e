-- Undoes an acquire in whatever state it is: releases the hold, or leaves the queue.
--
-- KEYS  lock (see common/record.lua)
-- ARGV  1 hold id, 2 until when (server's time) the acquire must have no effect; 0 = it is not under way any more,
--       3 how to publish (see acquire.lua)
-- Returns  1 a hold was released or a queue position removed
--          {1, {channel, message, ...}}  as 1, with the messages to publish
--          0 there was neither
local call = redis.call
local lock, id = KEYS[1], ARGV[1]
local till, pub, owner, known = tonumber(ARGV[2]), ARGV[3], '', {}
local fields = call('HLEN', lock)
if fields == 0 and till == 0 then
  call('HDEL', lock, '') -- Only a master may say so.
  return 0
end
local time = call('TIME')
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds line telling tombs only_hold
refused = list_only_hold(fields)
if refused then return redis.error_reply(refused) end
sweep(W)
sweep(R)
if writes > 0 then review() end
local mine, place = live_hold(id), place_of(id)
if till > 0 then bury(till) end
if place then leave(place) end
if mine then give_back(mine) elseif place then settle() end
-- A script that has found nothing changes nothing: the only hold of another client keeps its short record.
if giving or till > 0 then commit(true) end
if not giving then call('HDEL', lock, '') end -- Only a master may say so.
return giving and (notes and {1, notes} or 1) or 0
end)()
