-- needs: openssl.digest
-- package: lua-luaossl
local digest, hmac = require "openssl.digest", require "openssl.hmac"
local function hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
print(hex(digest.new("sha256"):final "perilune"))
print(hex(hmac.new("key", "sha1"):final "text"))
local cipher = require "openssl.cipher"
local key, iv = ("k"):rep(16), ("i"):rep(16)
local secret = cipher.new("aes-128-cbc"):encrypt(key, iv):final "attack at dawn"
print(hex(secret), cipher.new("aes-128-cbc"):decrypt(key, iv):final(secret))
local bignum = require "openssl.bignum"
print(bignum.new(2) ^ 100, bignum.new(10) < bignum.new(11), -bignum.new(5) + 7)
print(pcall(function() return digest.new "no such digest" end))
local pkey = require "openssl.pkey"
local pair = pkey.new { type = "EC", curve = "prime256v1" }
local signature = pair:sign(digest.new("sha256"):update "message")
print(pair:verify(signature, digest.new("sha256"):update "message"))
print(#require("openssl.rand").bytes(12))
