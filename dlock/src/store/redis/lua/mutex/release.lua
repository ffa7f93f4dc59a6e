-- Gives a mutex back, and passes it on to the first in line.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash, which may be left out: then nobody is told
-- ARGV  1 hold id, 2 how to publish (see acquire.lua), 3 until when (server's time) an acquire with this id must have no
--       effect; left out if none is on its way
-- Returns  1 released | 2 the same, and others wait | {1 or 2, {channel, message, ...}}  the same, and what is to be published
--          | 0 no such hold
local call = redis.call
local key, lock, id, till = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[3] or 0)
if not lock or till == 0 and call('EXISTS', lock) == 0 then
  local value = call('GET', key)
  if value == id or value == id .. '+' then return call('DEL', key) end -- Marked or not: see mutex/string.lua.
  call('GETEX', key) -- Only a master may say so.
  return 0
end
local time, pub, owner, known = call('TIME'), ARGV[2], '', {}
-- include: common
if till > 0 then bury(till) end
local mine = value == id
if mine then
  local place = place_of(id)
  if place then leave(place) end -- Who waited and then had the mutex by a plain `SET`.
  unhold()
  sweep(W)
  serve()
end
if mine or till > 0 then commit(true) end
local waited_for = W.count > 0 and 2 or 1
return mine and (notes and {waited_for, notes} or waited_for) or 0
