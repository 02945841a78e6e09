// Digests and signatures of tokens.
#include <array>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/sha.h>

#include "net/openssl.hpp"
#include "net/x509.hpp"

namespace plim::net {
namespace {

using DigestPtr = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using EcdsaPtr = std::unique_ptr<ECDSA_SIG, OpensslFree<ECDSA_SIG_free>>;

constexpr int kP256Bytes = 32;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool is_elliptic(EVP_PKEY* key) {
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC;
}

// OpenSSL uses DER; JSON Web Signatures use two numbers of fixed width (RFC 7518, 3.4).
Result<std::string> der_to_fixed(std::string_view der) {
  const unsigned char* at = bytes_of(der);
  EcdsaPtr numbers(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  std::array<unsigned char, 2 * kP256Bytes> out{};
  if (!numbers || BN_bn2binpad(ECDSA_SIG_get0_r(numbers.get()), out.data(), kP256Bytes) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(numbers.get()), out.data() + kP256Bytes, kP256Bytes) < 0)
    return fail(Code::invalid, "the only supported elliptic curve is P-256");
  return std::string(out.begin(), out.end());
}

std::string fixed_to_der(std::string_view fixed) {
  if (fixed.size() != 2 * kP256Bytes) return {};
  EcdsaPtr numbers(ECDSA_SIG_new());
  ECDSA_SIG_set0(numbers.get(), BN_bin2bn(bytes_of(fixed), kP256Bytes, nullptr),
                 BN_bin2bn(bytes_of(fixed) + kP256Bytes, kP256Bytes, nullptr));
  unsigned char* der = nullptr;
  int size = i2d_ECDSA_SIG(numbers.get(), &der);
  if (size <= 0) return {};
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

Result<KeyPtr> read_any_key(std::string_view pem) {
  BioPtr bio = bio_from(pem);
  if (KeyPtr key{PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr)}) return key;
  return read_private_key(pem);
}

}  // namespace

Result<std::string> sign_sha256(std::string_view key_pem, std::string_view data) {
  PLIM_TRY(KeyPtr key, read_private_key(key_pem));
  DigestPtr digest(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, bytes_of(data), data.size()) != 1)
    return fail(Code::invalid, "the key cannot sign: " + openssl_error());
  std::string signature(size, '\0');
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     bytes_of(data), data.size()) != 1)
    return fail(Code::internal, "signing failed: " + openssl_error());
  signature.resize(size);
  if (is_elliptic(key.get())) return der_to_fixed(signature);
  return signature;
}

Result<bool> verify_sha256(std::string_view public_or_private_key_pem, std::string_view data,
                           std::string_view signature) {
  PLIM_TRY(KeyPtr key, read_any_key(public_or_private_key_pem));
  std::string wire = is_elliptic(key.get()) ? fixed_to_der(signature) : std::string(signature);
  DigestPtr digest(EVP_MD_CTX_new());
  if (EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1)
    return fail(Code::invalid, "the key cannot verify: " + openssl_error());
  bool good =
      EVP_DigestVerify(digest.get(), bytes_of(wire), wire.size(), bytes_of(data), data.size()) == 1;
  ERR_clear_error();
  return good;
}

std::string sha256_hex(std::string_view data) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(bytes_of(data), data.size(), digest.data());
  std::string out;
  for (unsigned char byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace plim::net
