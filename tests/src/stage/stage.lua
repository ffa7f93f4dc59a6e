-- Runs a script with a test's clock, ears and faults in place of the server's. Needs nothing that Redis 6.2 lacks.
-- KEYS  1 lock, 2 until when the lock's key is kept: ms on the test's clock, or nothing if for ever (its real key
--       never expires)
-- ARGV  1 the time in us, 2 clients that do not hear: '|<client>|<client>|', 3 what is denied: '' or '<from> <to>
--       |<command>|<command>|', counting all commands of the script from 1, 4 the error then, 5 '1' = try a plain
--       `HDEL` of the hold id first, 6 ... the script's own
-- Returns {{1, what the script returns} or {0, why it was aborted}, messages, how many commands it has run, until when
--          the key is kept ('' = for ever), HGETALL}; each message: channel, text, how many heard it, the hold's record
local stage, ARGS = redis, ARGV
local stage_lock, stage_side, stage_clock = KEYS[1], KEYS[2], tonumber(ARGV[1])
local stage_deaf, stage_calls, stage_told = ARGV[2], 0, {}
local stage_from, stage_to, stage_which = string.match(ARGV[3], '^(%d+) (%d+) (%S+)$')

local function stage_end()
  stage.call('DEL', stage_lock, stage_side)
end

-- Whether the key was there, and the time when it ends.
local function stage_expire(at)
  if stage.call('EXISTS', stage_lock) == 0 then return 0 end
  if at * 1000 <= stage_clock then
    stage_end()
  else
    stage.call('SET', stage_side, string.format('%d', at))
  end
  return 1
end

local function stage_publish(command, channel, message)
  local client = string.match(channel, '([^:]*)$')
  local heard = string.find(stage_deaf, '|' .. client .. '|', 1, true) and 0 or 1
  local of = string.match(message, '^%S+')
  local record = stage.call('HGET', stage_lock, '+' .. of) or ''
  stage_told[#stage_told + 1] = {command .. ' ' .. channel, message, heard, record}
  return heard
end

local function stage_run(run, command, ...)
  stage_calls = stage_calls + 1
  if stage_from and stage_calls >= tonumber(stage_from) and stage_calls <= tonumber(stage_to)
    and (stage_which == '|*|' or string.find(stage_which, '|' .. command .. '|', 1, true)) then
    if run == stage.call then error(ARGS[4]) end
    return {err = ARGS[4]}
  end
  if command == 'TIME' then
    return {string.format('%d', math.floor(stage_clock / 1000000)), string.format('%d', stage_clock % 1000000)}
  elseif command == 'PEXPIRE' then
    local _, span = ...
    return stage_expire(math.floor(stage_clock / 1000) + tonumber(span))
  elseif command == 'PEXPIREAT' then
    local _, at = ...
    return stage_expire(tonumber(at))
  elseif command == 'PTTL' then
    local at = stage.call('GET', stage_side)
    return at and at - math.floor(stage_clock / 1000) or stage.call('EXISTS', stage_lock) - 2
  elseif command == 'SPUBLISH' or command == 'PUBLISH' then
    return stage_publish(command, ...)
  elseif command == 'HDEL' then
    local gone = run(command, ...)
    if stage.call('EXISTS', stage_lock) == 0 then stage.call('DEL', stage_side) end -- The expiry went with it.
    return gone
  end
  return run(command, ...)
end

local redis = {
  call = function(...) return stage_run(stage.call, ...) end,
  pcall = function(...) return stage_run(stage.pcall, ...) end,
  error_reply = stage.error_reply,
  set_repl = stage.set_repl,
  REPL_NONE = stage.REPL_NONE,
  REPL_ALL = stage.REPL_ALL,
}

local function stage_script(KEYS, ARGV)
-- the script
end

local stage_kept = stage.call('GET', stage_side)
if stage_kept and tonumber(stage_kept) * 1000 <= stage_clock then stage_end() end
local stage_done, stage_reply = pcall(function()
  local gone = ARGS[5] == '1' and redis.call('HDEL', stage_lock, '=' .. ARGS[6]) or 0
  return gone == 0 and stage_script({stage_lock}, {unpack(ARGS, 6)}) or gone
end)
if type(stage_reply) == 'table' and stage_reply.err then stage_done, stage_reply = false, stage_reply.err end
if not stage_done and type(stage_reply) ~= 'string' then stage_reply = 'an error of type ' .. type(stage_reply) end
return {{stage_done and 1 or 0, stage_reply}, stage_told, stage_calls, stage.call('GET', stage_side) or '',
  stage.call('HGETALL', stage_lock)}
