// Reads and verifies certificates.
#include <arpa/inet.h>
#include <array>

#include "net/openssl.hpp"
#include "net/x509.hpp"

namespace plim::net {
namespace {

using AlternativeNames = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;
using StorePtr = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>>;

WallTime to_wall_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

std::string ip_text(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return {};
  inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

void read_alternative_names(X509* certificate, CertificateInfo& info) {
  AlternativeNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      info.dns_names.emplace_back(
          reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
          static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      info.ip_addresses.push_back(ip_text(name->d.iPAddress));
    }
  }
}

}  // namespace

std::vector<std::string> subject_values(X509* certificate, int nid) {
  std::vector<std::string> out;
  const X509_NAME* name = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    out.emplace_back(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

Result<CertificateInfo> read_certificate(std::string_view pem) {
  PLIM_TRY(auto certificates, read_certificates(pem));
  X509* certificate = certificates.front().get();
  CertificateInfo info;
  if (auto names = subject_values(certificate, NID_commonName); !names.empty())
    info.common_name = names.back();
  info.organizations = subject_values(certificate, NID_organizationName);
  read_alternative_names(certificate, info);
  info.not_before = to_wall_time(X509_get0_notBefore(certificate));
  info.not_after = to_wall_time(X509_get0_notAfter(certificate));
  info.is_authority = X509_check_ca(certificate) > 0;
  ERR_clear_error();
  return info;
}

Result<void> verify_certificate(std::string_view certificate_pem, std::string_view key_pem,
                                std::string_view ca_pem, WallTime now) {
  PLIM_TRY(auto chain, read_certificates(certificate_pem));
  PLIM_TRY(KeyPtr key, read_private_key(key_pem));
  PLIM_TRY(auto authorities, read_certificates(ca_pem));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return fail(Code::invalid, "the private key does not belong to the certificate");
  }
  StorePtr store(X509_STORE_new());
  for (const auto& authority : authorities) X509_STORE_add_cert(store.get(), authority.get());
  STACK_OF(X509)* between = sk_X509_new_null();
  for (const auto& certificate : chain) sk_X509_push(between, certificate.get());
  StoreContextPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), between);
  auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  X509_STORE_CTX_set_time(context.get(), 0, static_cast<std::time_t>(seconds));
  bool good = X509_verify_cert(context.get()) == 1;
  int why = X509_STORE_CTX_get_error(context.get());
  sk_X509_free(between);
  ERR_clear_error();
  if (good) return {};
  return fail(Code::invalid,
              fmt::format("certificate not accepted: {}", X509_verify_cert_error_string(why)));
}

}  // namespace plim::net
