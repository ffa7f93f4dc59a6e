-- Gives a mutex back that no client of dlock waits for, without a look at anything else.
--
-- KEYS  1 the mutex (see mutex/string.lua)
-- ARGV  1 hold id
-- Returns  1 released | 0 no such hold, or others wait: that is for mutex/release.lua
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
