-- A goto without a label in the script (3.3.4).
-- expect: error
--! undefined-label-file.lua:8: no visible label 'nowhere' for <goto> at line 6

do
  goto nowhere
end
