-- At the end of a local slice: lets the line in if anybody waits, otherwise carries on.
--
-- KEYS  lock, line, waiting writers, waiting readers (see common.lua)
-- ARGV  1 hold id, 2 last token handed out under this hold (0 = none but the granted one),
--       3 lease in us, 4 publish command, 5 channel stem
-- Returns  token  nobody waits: the hold goes on, extended, with a fresh token
--          {2}    somebody waits: a write hold has been released to them; a read hold stays
--                 until its readers leave, but must not be joined any more
--          0      no such hold: released before, or expired
local call = redis.call
local lock, id, handed = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = call('TIME')
local now, last = time[1] * 1000000 + time[2], tonumber(call('HGET', lock, 't'))
if not last then return 0 end
if now < last then now = last end
local publish, channel = ARGV[4], ARGV[5]
-- include: common.lua
load_holds()
local hold = holds.by_id[id]
if not hold then
  save()
  return 0
end
if handed > last then
  last = handed
  promise(last)
end

if head(writers) or hold.mode == 'w' and head(readers) then
  if hold.mode == 'w' then
    drop_hold(id)
    pass_on()
  end
  save()
  return {2}
end
if now < last then now = last end
last = math.max(now, last + 1)
hold.token, hold.deadline = last, math.max(hold.deadline, now + ARGV[3])
if holds.listed then put_hold(hold) end
promise(hold.deadline)
save()
return last
