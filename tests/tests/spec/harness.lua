-- Runs a script on a test's clock: the last argument is the time in us.
-- Returns {what the script returns, {channel and id of each waiter woken}}
local test_clock, test_woken = tonumber(ARGV[#ARGV]), {}
local function test_time()
  return {math.floor(test_clock / 1000000), test_clock % 1000000}
end
local function test_publish(command, channel, id)
  if command ~= 'SPUBLISH' then error('not the publish command: ' .. command) end
  test_woken[#test_woken + 1] = channel .. ' ' .. id
  return 1
end
-- What is due on the test's clock has expired. (-1: never, -2: no such key.)
for _, key in ipairs(KEYS) do
  local at = redis.call('PEXPIRETIME', key)
  if at >= 0 and at * 1000 <= test_clock then redis.call('DEL', key) end
end
local function test_script()
-- the script
end
local test_reply = test_script()
for _, key in ipairs(KEYS) do
  if redis.call('PEXPIRETIME', key) == -1 then error('never expires: ' .. key) end
end
return {test_reply, test_woken}
