-- Runs a script with a test's clock, ears and faults in place of the server's. Needs nothing that Redis 6.2 lacks.
-- KEYS  the lock's keys, each with where is noted until when it is kept: ms on the test's clock, or nothing if for ever
--       (the real keys never expire). The hash is the last one; before it stands a mutex' string
-- ARGV  1 the time in us, 2 clients that do not hear: '|<client>|<client>|', 3 what is denied: '' or '<from> <to>
--       |<command>|<command>|', counting all commands of the script from 1, 4 the error then, 5 how many words of a plain
--       command follow that is tried first, 6 how many keys the script is given, 7 ... that command, the script's own
-- Returns {{1, what the script returns} or {0, why it was aborted}, messages, how many commands it has run, until when
--          the hash is kept ('' = for ever), HGETALL, the string as {value, until when it is kept} or {}}; each message:
--          channel, text, how many heard it, the hold's record
local stage, ARGS = redis, ARGV
local stage_hash, stage_string, stage_clock = KEYS[#KEYS - 1], #KEYS == 4 and KEYS[1], tonumber(ARGV[1])
local stage_millis = math.floor(stage_clock / 1000)
local stage_deaf, stage_calls, stage_told = ARGV[2], 0, {}
local stage_from, stage_to, stage_which = string.match(ARGV[3], '^(%d+) (%d+) (%S+)$')
local stage_side = {}
for i = 1, #KEYS, 2 do stage_side[KEYS[i]] = KEYS[i + 1] end

local function stage_kept(key)
  return stage.call('GET', stage_side[key])
end

local function stage_end(key)
  stage.call('DEL', key, stage_side[key])
end

-- Whether the key was there, and the time when it ends.
local function stage_expire(key, at)
  if stage.call('EXISTS', key) == 0 then return 0 end
  if at <= stage_millis then
    stage_end(key)
  else
    stage.call('SET', stage_side[key], string.format('%d', at))
  end
  return 1
end

local function stage_set(run, key, value, ...)
  local words, at = {...}, nil
  for i, word in ipairs(words) do
    if word == 'NX' and stage.call('EXISTS', key) == 1 then return false end
    if word == 'XX' and stage.call('EXISTS', key) == 0 then return false end
    if word == 'KEEPTTL' then return run('SET', key, value) end
    if word == 'PX' then at = stage_millis + tonumber(words[i + 1]) end
  end
  local reply = run('SET', key, value)
  stage.call('DEL', stage_side[key])
  if at then stage_expire(key, at) end
  return reply
end

-- As a listed hold of a read/write lock: mode, end, token.
local function stage_record(of)
  if not stage_string then return stage.call('HGET', stage_hash, '+' .. of) or '' end
  local value = stage.call('GET', stage_string)
  if value ~= of and value ~= of .. '+' then return '' end
  return 'w ' .. (stage_kept(stage_string) or 0) .. ' ' .. (stage.call('HGET', stage_hash, 't') or '0') .. ' 1 '
end

local function stage_publish(command, channel, message)
  local client = string.match(channel, '([^:]*)$')
  local heard = string.find(stage_deaf, '|' .. client .. '|', 1, true) and 0 or 1
  local of = string.match(message, '^%S+')
  stage_told[#stage_told + 1] = {command .. ' ' .. channel, message, heard, stage_record(of)}
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
    local key, span = ...
    return stage_expire(key, stage_millis + tonumber(span))
  elseif command == 'PEXPIREAT' then
    local key, at = ...
    return stage_expire(key, tonumber(at))
  elseif command == 'PTTL' then
    local at = stage_kept(...)
    return at and at - stage_millis or stage.call('EXISTS', (...)) - 2
  elseif command == 'SET' then
    return stage_set(run, ...)
  elseif command == 'SPUBLISH' or command == 'PUBLISH' then
    return stage_publish(command, ...)
  elseif command == 'HDEL' or command == 'DEL' then
    local gone = run(command, ...)
    if stage.call('EXISTS', (...)) == 0 then stage.call('DEL', stage_side[...]) end -- The expiry went with it.
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

for i = 1, #KEYS, 2 do
  local at = stage_kept(KEYS[i])
  if at and tonumber(at) < stage_millis + (KEYS[i] == stage_hash and 1 or 0) then stage_end(KEYS[i]) end
end
local stage_done, stage_reply = pcall(function()
  local words = tonumber(ARGS[5])
  local plain = words > 0 and redis.call(unpack(ARGS, 7, 6 + words)) or 0
  if plain ~= 0 then return plain end
  local keys = {stage_string or stage_hash, ARGS[6] == '2' and stage_hash or nil}
  return stage_script(keys, {unpack(ARGS, 7 + words)})
end)
if type(stage_reply) == 'table' and stage_reply.err then stage_done, stage_reply = false, stage_reply.err end
if not stage_done and type(stage_reply) ~= 'string' then stage_reply = 'an error of type ' .. type(stage_reply) end
local stage_value = stage_string and stage.call('GET', stage_string)
return {{stage_done and 1 or 0, stage_reply}, stage_told, stage_calls, stage_kept(stage_hash) or '',
  stage.call('HGETALL', stage_hash),
  stage_value and {stage_value, stage_kept(stage_string) or ''} or {}}
