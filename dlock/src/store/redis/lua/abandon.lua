-- Undoes an acquire whatever became of it: gives the hold back, or leaves the line.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 publish command, 3 channel stem
-- Returns  1 a hold or a place was given up | 0 there was neither
local call = redis.call
local lock, id = KEYS[1], ARGV[1]
local time = call('TIME')
local now, last = time[1] * 1000000 + time[2], tonumber(call('HGET', lock, 't'))
if not last then return 0 end
if now < last then now = last end
local publish, channel = ARGV[2], ARGV[3]
-- include: common.lua
load_holds()
local held = holds.by_id[id]
local waits = is_waiting(id)
if held then drop_hold(id) end
if waits then leave_line(id) end
if held or waits then pass_on() end
save()
return (held or waits) and 1 or 0
