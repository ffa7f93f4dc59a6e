-- Undoes an acquire whatever became of it: gives the hold back, or leaves the line.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 publish command, 3 channel stem
-- Returns  {1} a hold or a place was given up | {0} there was neither
local lock, id = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('HGET', lock, 't') or 0)
if now < last then now = last end
local publish, channel = ARGV[2], ARGV[3]
-- include: common.lua
local holds = load_holds()
local held, seq = holds.by_id[id], place_of(id)
if not (held or seq) then return {0} end
if held then drop_hold(holds, id) end
if seq then leave_line(id) end
pass_on(holds)
return {1}
