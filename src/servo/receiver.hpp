// The service that receives the measurements.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/client.hpp"
#include "servo/settings.hpp"
#include "servo/url_template.hpp"

namespace plim::servo {

struct Message {
  Subject subject;
  std::string body;
  std::string idempotency_key = {};  // "": none
};

struct PostAnswer {
  int status = 0;
  std::optional<std::chrono::seconds> retry_after = {};
};

// Belongs to one loop.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // An answer with any status is a success; errors come from the transport. Takes about `limit` at
  // most.
  virtual Task<Result<PostAnswer>> post(Message message, std::chrono::milliseconds limit) = 0;
};

// A token from a file that may change, or a fixed one.
class TokenSource {
 public:
  TokenSource(std::string token, std::string file);

  // Reads the file again if it has changed. Keeps the old token if the file is unusable.
  const std::string& current();

 private:
  struct Version {
    std::int64_t seconds = 0, nanoseconds = 0, size = 0;
    std::uint64_t inode = 0;
    bool operator==(const Version&) const = default;
  };

  std::string token_;
  std::string file_;
  std::optional<Version> version_;
  log::Throttle log_;
};

// Posts over HTTP with address, account and token of the settings. Follows redirects only within
// the same origin, so that no other host gets the token. Reads at most 1 MiB of an answer's body.
class HttpReceiver final : public Receiver {
 public:
  // `ca_pem` "": the certificate authorities of the system.
  static Result<std::unique_ptr<HttpReceiver>> create(const Executor& loop,
                                                      const Settings& settings, std::string ca_pem,
                                                      std::string proxy, Clock& clock);

  Task<Result<PostAnswer>> post(Message message, std::chrono::milliseconds limit) override;

 private:
  HttpReceiver(UrlTemplate url, TokenSource token, std::shared_ptr<net::Client> client,
               Clock& clock);
  Task<void> finish_body(net::ResponseStream* stream, SteadyTime deadline);
  std::optional<UrlTemplate::Target> redirect(const net::ResponseStream& answer) const;

  UrlTemplate url_;
  TokenSource token_;
  std::shared_ptr<net::Client> client_;
  Clock& clock_;
};

}  // namespace plim::servo
