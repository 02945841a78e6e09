#include "net/openssl.hpp"

#include <vector>

#include <fmt/format.h>

namespace plim::net {
namespace {

// Without a callback OpenSSL would prompt for the pass phrase on the terminal.
int no_pass_phrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

std::string openssl_error() {
  unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown TLS error";
  const char* reason = ERR_reason_error_string(code);
  return reason ? reason : fmt::format("OpenSSL error {:x}", code);
}

BioPtr bio_from(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<KeyPtr> read_private_key(std::string_view pem) {
  ERR_clear_error();
  BioPtr bio = bio_from(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!key) return fail(Code::invalid, "private key is not readable PEM: " + openssl_error());
  return key;
}

Result<std::vector<CertificatePtr>> read_certificates(std::string_view pem) {
  ERR_clear_error();
  BioPtr bio = bio_from(pem);
  std::vector<CertificatePtr> out;
  while (CertificatePtr next{PEM_read_bio_X509(bio.get(), nullptr, no_pass_phrase, nullptr)})
    out.push_back(std::move(next));
  bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  std::string why = openssl_error();
  if (!at_end) return fail(Code::invalid, "certificate is not readable PEM: " + why);
  if (out.empty()) return fail(Code::invalid, "no PEM certificate in the text");
  return out;
}

}  // namespace plim::net
