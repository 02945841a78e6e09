// The body of the request that a server's connection handles. For connection*.cpp only.
#pragma once

#include "net/connection.hpp"

namespace plim::net {

class Connection::Body final : public BodyReader {
 public:
  Body(Connection& connection, std::unique_ptr<RequestParser> parser, const RouteOptions& options,
       const Headers& headers);

  Task<Result<std::optional<std::string>>> next() override;

  bool complete() const { return parser_->done(); }

  std::size_t expected_size() const;

 private:
  Task<Result<void>> advance();

  Connection& connection_;
  std::unique_ptr<RequestParser> parser_;
  const RouteOptions& options_;
  std::unique_ptr<Gunzip> gunzip_;
  bool owes_continue_;  // the client waits for 100 Continue
};

}  // namespace plim::net
