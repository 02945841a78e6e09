// Owning pointers and error texts for OpenSSL; for .cpp files of this folder only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/result.hpp"

namespace plim::net {

template <auto free>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, OpensslFree<X509_free>>;

// The oldest queued error as OpenSSL words it, for example "no certificate or crl found"; clears
// the queue.
std::string openssl_error();

BioPtr bio_from(std::string_view text);
Result<KeyPtr> read_private_key(std::string_view pem);
// All certificates of the text, at least one.
Result<std::vector<CertificatePtr>> read_certificates(std::string_view pem);
// The values of one attribute of the subject, for example NID_organizationName, in order.
std::vector<std::string> subject_values(X509* certificate, int nid);

}  // namespace plim::net
