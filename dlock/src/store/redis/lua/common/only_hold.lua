-- Turns the short record of a lock, which is enough for one hold and an empty queue, into the long one.
-- Before it stand record.lua, commit.lua and holds.lua.

-- Makes a list of the only hold, if there is one, and removes void fields that a script has left behind.
local function list_only_hold(fields)
  if f[2] or fields == 0 or fields > 8 then return end
  local all = call('HGETALL', lock)
  for i = 1, #all, 2 do
    local field, value = all[i], all[i + 1]
    if value == '' then
      if pending[field] == nil then set(field, '') end
    elseif string.byte(field) == 61 then -- '='
      local mode, left, seen, of = match(value, '^(%a) (%d+) (%d+) (.*)$')
      if not mode and match(value, '^%d+$') then mode, left, seen, of = 'w', (value - 1001) * 1000, 0, '' end
      if not mode then return 'DLOCKFOREIGN this lock was written by another version of dlock' end
      set(field, '')
      listed = true
      if last + seen > max(last, noted) then
        noted = last + seen
        set('n', fmt('%d', noted))
        not_before(noted)
      end
      promise(last + left)
      if last + left > now then hold(string.sub(field, 2), mode, last + left, last, of) end
    end
  end
end
