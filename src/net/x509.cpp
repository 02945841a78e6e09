// Creates certificates. x509_read.cpp reads and verifies them.
#include "net/x509.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/rand.h>

#include "net/openssl.hpp"

namespace plim::net {
namespace {

using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, OpensslFree<BN_free>>;

constexpr int kSerialBits = 127;  // RFC 5280 allows 20 bytes; positive and unguessable is enough

Error making_failed(std::string_view what) {
  return fail(Code::internal, fmt::format("cannot make {}: {}", what, openssl_error()));
}

Result<KeyPtr> make_p256_key() {
  ERR_clear_error();
  KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return making_failed("a P-256 key");
  return key;
}

std::string bio_text(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string key_to_pem(EVP_PKEY* key) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return bio_text(bio.get());
}

std::string certificate_to_pem(X509* certificate) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return bio_text(bio.get());
}

bool add_name(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

// `value` is in OpenSSL's configuration syntax, so it must be one of our constants.
bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_times(X509* certificate, WallTime not_before, WallTime not_after) {
  auto seconds = [](WallTime time) {
    return std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
  };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(not_before)) &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(not_after));
}

bool set_random_serial(X509* certificate) {
  NumberPtr number(BN_new());
  return BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
}

// Takes ownership of `value`.
bool push_name(GENERAL_NAMES* names, int type, ASN1_STRING* value) {
  if (!value) return false;
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, type, value);
  return sk_GENERAL_NAME_push(names, name) > 0;
}

Result<void> add_alternative_names(X509* certificate, const CertificateRequest& request) {
  if (request.dns_names.empty() && request.ip_addresses.empty()) return {};
  GeneralNamesPtr names(GENERAL_NAMES_new());
  for (const std::string& dns : request.dns_names) {
    ASN1_IA5STRING* text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, dns.data(), static_cast<int>(dns.size()));
    if (!push_name(names.get(), GEN_DNS, text)) return making_failed("a DNS name");
  }
  for (const std::string& ip : request.ip_addresses) {
    ASN1_OCTET_STRING* bytes = a2i_IPADDRESS(ip.c_str());
    if (!bytes) {
      ERR_clear_error();
      return fail(Code::invalid, fmt::format("not an IP address: \"{}\"", ip));
    }
    if (!push_name(names.get(), GEN_IPADD, bytes)) return making_failed("an IP name");
  }
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) != 1)
    return making_failed("the alternative names");
  return {};
}

Result<CertificatePtr> blank_certificate(EVP_PKEY* key, WallTime not_before, WallTime not_after) {
  ERR_clear_error();
  CertificatePtr certificate(X509_new());
  if (X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      !set_random_serial(certificate.get()) ||
      !set_times(certificate.get(), not_before, not_after) ||
      X509_set_pubkey(certificate.get(), key) != 1)
    return making_failed("a certificate");
  return certificate;
}

const char* key_usages(const CertificateRequest& request) {
  if (request.server && request.client) return "serverAuth,clientAuth";
  return request.server ? "serverAuth" : "clientAuth";
}

}  // namespace

Result<KeyPair> make_authority(std::string_view common_name, WallTime not_before,
                               WallTime not_after) {
  PLIM_TRY(KeyPtr key, make_p256_key());
  PLIM_TRY(CertificatePtr made, blank_certificate(key.get(), not_before, not_after));
  X509* certificate = made.get();
  if (!add_name(X509_get_subject_name(certificate), "CN", common_name) ||
      X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1 ||
      !add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE") ||
      !add_extension(certificate, certificate, NID_key_usage,
                     "critical,digitalSignature,keyCertSign,cRLSign") ||
      !add_extension(certificate, certificate, NID_subject_key_identifier, "hash") ||
      X509_sign(certificate, key.get(), EVP_sha256()) <= 0)
    return making_failed("an authority");
  return KeyPair{.certificate_pem = certificate_to_pem(certificate),
                 .key_pem = key_to_pem(key.get())};
}

Result<KeyPair> issue_certificate(const KeyPair& authority, const CertificateRequest& request) {
  PLIM_TRY(auto authority_certificates, read_certificates(authority.certificate_pem));
  PLIM_TRY(KeyPtr authority_key, read_private_key(authority.key_pem));
  X509* issuer = authority_certificates.front().get();
  if (X509_check_private_key(issuer, authority_key.get()) != 1) {
    ERR_clear_error();
    return fail(Code::invalid, "the authority's key does not belong to its certificate");
  }
  PLIM_TRY(KeyPtr key, make_p256_key());
  PLIM_TRY(CertificatePtr made,
           blank_certificate(key.get(), request.not_before, request.not_after));
  X509* certificate = made.get();
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (const std::string& organization : request.organizations)
    if (!add_name(subject, "O", organization)) return making_failed("an organization");
  if (!request.common_name.empty() && !add_name(subject, "CN", request.common_name))
    return making_failed("a common name");
  if (X509_NAME_cmp(subject, X509_get_subject_name(issuer)) == 0)
    return fail(Code::invalid, fmt::format("certificate {} has the name of its issuer: clients "
                                           "would treat it as self-signed",
                                           request.common_name));
  if (X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1 ||
      !add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature") ||
      !add_extension(certificate, issuer, NID_authority_key_identifier, "keyid"))
    return making_failed("a certificate");
  if ((request.server || request.client) &&
      !add_extension(certificate, issuer, NID_ext_key_usage, key_usages(request)))
    return making_failed("the key usages");
  PLIM_CHECK(add_alternative_names(certificate, request));
  if (X509_sign(certificate, authority_key.get(), EVP_sha256()) <= 0)
    return making_failed("a signature");
  return KeyPair{.certificate_pem = certificate_to_pem(certificate),
                 .key_pem = key_to_pem(key.get())};
}

Result<std::string> make_signing_key() {
  PLIM_TRY(KeyPtr key, make_p256_key());
  return key_to_pem(key.get());
}

}  // namespace plim::net
