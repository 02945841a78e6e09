// Our client against a grpc++ server, and a grpc++ client against ours.
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "echo.grpc.pb.h"
#include "net/rpc.hpp"

namespace plim::net {
namespace {

using namespace std::chrono_literals;
using plim::testing::Echo;
using plim::testing::Message;

// When its last user goes, grpc++ shuts the whole library down and may wait ten seconds for a
// poller of its own. This user never goes.
[[gnu::used]] const auto* const kLibraryInUse = new grpc::CompletionQueue;

const std::vector<std::string> kTexts{"plain", "", "50% of caf\xc3\xa9\nnew line", " edge blanks "};
constexpr int kLarge = 15 << 20;

Message message(std::string text, int number = 0) {
  Message out;
  out.set_text(std::move(text));
  out.set_number(number);
  return out;
}

Message parse(const std::string& bytes) {
  Message out;
  EXPECT_TRUE(out.ParseFromString(bytes));
  return out;
}

// ---- grpc++ serves

class ForeignService final : public Echo::Service {
  grpc::Status Same(grpc::ServerContext*, const Message* request, Message* reply) override {
    *reply = *request;
    return {};
  }

  grpc::Status Big(grpc::ServerContext*, const Message* request, Message* reply) override {
    reply->set_data(std::string(static_cast<std::size_t>(request->number()), 'x'));
    return {};
  }

  grpc::Status Fail(grpc::ServerContext*, const Message* request, Message*) override {
    return {static_cast<grpc::StatusCode>(request->number()), request->text()};
  }

  grpc::Status Sleep(grpc::ServerContext* context, const Message* request, Message*) override {
    auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(request->number());
    while (std::chrono::steady_clock::now() < until && !context->IsCancelled())
      std::this_thread::sleep_for(1ms);
    return {};
  }

  grpc::Status Count(grpc::ServerContext*, const Message* request,
                     grpc::ServerWriter<Message>* writer) override {
    Message out = *request;
    for (int i = 0; i < request->number(); ++i) {
      out.set_number(i);
      if (!writer->Write(out)) return grpc::Status::CANCELLED;
    }
    return {};
  }
};

class ForeignServer : public ::testing::Test {
 protected:
  ForeignServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path_, grpc::InsecureServerCredentials());
    builder.SetMaxSendMessageSize(32 << 20);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    channel_ = Channel::unix_socket(loop_.executor(), path_);
  }

  ~ForeignServer() override {
    channel_->close();
    loop_.run_ready();
    server_->Shutdown();
  }

  RpcReply call(const std::string& method, const Message& request,
                RpcClock::duration deadline = 20s) {
    return run_to_end(loop_, channel_->call("/plim.testing.Echo/" + method,
                                            request.SerializeAsString(), deadline));
  }

  Task<RpcStatus> count(Message request, int stop_after, int& seen) {
    auto reader = co_await channel_->open("/plim.testing.Echo/Count", request.SerializeAsString(),
                                          kNoDeadline);
    std::string bytes;
    while (seen < stop_after) {
      bool more = co_await reader->next(bytes);
      if (!more) break;
      EXPECT_EQ(parse(bytes).number(), seen++);
    }
    co_return reader->status();
  }

  Task<void> call_in_group(int& ok) {
    std::string request = message("s", 1).SerializeAsString();
    RpcReply reply = co_await channel_->call("/plim.testing.Echo/Sleep", request, 20s);
    ok += reply.status.ok();
  }

  plim::testing::TempDir dir_;
  std::string path_ = dir_ / "s";
  Loop loop_;
  ForeignService service_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<Channel> channel_;
};

TEST_F(ForeignServer, answers_unary_calls) {
  RpcReply reply = call("Same", message("hello", 7));
  ASSERT_TRUE(reply.status.ok()) << reply.status.message;
  EXPECT_EQ(parse(reply.body).text(), "hello");
  for (int size : {0, 1, 65'535, 65'536, 4 << 20, kLarge})
    EXPECT_EQ(parse(call("Big", message("", size)).body).data().size(),
              static_cast<std::size_t>(size));
}

TEST_F(ForeignServer, tells_errors) {
  for (const std::string& text : kTexts) {
    RpcReply reply = call("Fail", message(text, 5));
    EXPECT_EQ(reply.status.code, RpcCode::not_found);
    EXPECT_EQ(reply.status.message, text);
  }
  EXPECT_EQ(call("None", message("")).status.code, RpcCode::unimplemented);
}

TEST_F(ForeignServer, is_late) {
  EXPECT_EQ(call("Sleep", message("", 5000), 50ms).status.code, RpcCode::deadline_exceeded);
  EXPECT_TRUE(call("Same", message("alive")).status.ok());
}

TEST_F(ForeignServer, streams) {
  int seen = 0;
  Message request = message("m", 1000);
  request.set_data(std::string(1000, 'y'));
  EXPECT_TRUE(run_to_end(loop_, count(request, 2000, seen)).ok());
  EXPECT_EQ(seen, 1000);
}

TEST_F(ForeignServer, is_told_that_a_stream_is_dropped) {
  int seen = 0;
  Message request = message("m", 100'000'000);
  request.set_data(std::string(10'000, 'y'));
  run_to_end(loop_, count(request, 100, seen));
  EXPECT_EQ(seen, 100);
  EXPECT_TRUE(call("Same", message("alive")).status.ok());
}

TEST_F(ForeignServer, answers_200_calls_at_once) {
  int ok = 0;
  TaskGroup group(loop_.executor());
  for (int i = 0; i < 200; ++i) group.spawn("call", call_in_group(ok));
  run_to_end(loop_, group.join());
  EXPECT_EQ(ok, 200);
}

// ---- grpc++ calls

Task<RpcReply> same(RpcCall&, std::string request) {
  co_return RpcReply{.body = std::move(request)};
}

Task<RpcReply> big(RpcCall&, std::string request) {
  Message reply;
  reply.set_data(std::string(static_cast<std::size_t>(parse(request).number()), 'x'));
  co_return RpcReply{.body = reply.SerializeAsString()};
}

Task<RpcReply> fail_as_asked(RpcCall&, std::string request) {
  Message asked = parse(request);
  co_return RpcReply{.status = {static_cast<RpcCode>(asked.number()), asked.text()}};
}

Task<RpcReply> sleep(RpcCall&, std::string request) {
  co_await system_clock().sleep(std::chrono::milliseconds(parse(request).number()));
  co_return RpcReply{};
}

Task<RpcStatus> count(RpcCall& call, std::string request) {
  Message out = parse(request);
  int last = out.number();
  for (int i = 0; i < last; ++i) {
    out.set_number(i);
    bool more = co_await call.write(out.SerializeAsString());
    if (!more) break;
  }
  co_return RpcStatus{};
}

// Our server on a thread of its own, as a kubelet would meet it.
class ForeignClient : public ::testing::Test {
 protected:
  ForeignClient() {
    std::promise<void> listening;
    auto ready = listening.get_future();
    thread_ = std::thread([this, &listening] { run_to_end(loop_, serve(listening)); });
    ready.wait();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(32 << 20);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    stub_ = Echo::NewStub(
        grpc::CreateCustomChannel("unix:" + path_, grpc::InsecureChannelCredentials(), arguments));
  }

  ~ForeignClient() override {
    post_to(loop_.executor(), [this] { stop_->notify(); });
    thread_.join();
  }

  Task<void> serve(std::promise<void>& listening) {
    stop_ = std::make_unique<Event>(loop_.executor());
    auto server = RpcServer::listen(loop_.executor(), path_);
    EXPECT_TRUE(server);
    (*server)->unary("/plim.testing.Echo/Same", same);
    (*server)->unary("/plim.testing.Echo/Big", big);
    (*server)->unary("/plim.testing.Echo/Fail", fail_as_asked);
    (*server)->unary("/plim.testing.Echo/Sleep", sleep);
    (*server)->streaming("/plim.testing.Echo/Count", count);
    listening.set_value();
    co_await stop_->wait();
    co_await (*server)->drain(5s);
  }

  using Method = grpc::Status (Echo::Stub::*)(grpc::ClientContext*, const Message&, Message*);

  grpc::Status call(Method method, const Message& request, Message& reply,
                    std::chrono::milliseconds deadline = 20s) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    return (stub_.get()->*method)(&context, request, &reply);
  }

  plim::testing::TempDir dir_;
  std::string path_ = dir_ / "s";
  Loop loop_;
  std::unique_ptr<Event> stop_;
  std::thread thread_;
  std::unique_ptr<Echo::Stub> stub_;
};

TEST_F(ForeignClient, calls_unary_methods) {
  Message reply;
  ASSERT_TRUE(call(&Echo::Stub::Same, message("hello"), reply).ok());
  EXPECT_EQ(reply.text(), "hello");
  for (int size : {0, 1, 65'535, 65'536, 4 << 20, kLarge}) {
    EXPECT_TRUE(call(&Echo::Stub::Big, message("", size), reply).ok());
    EXPECT_EQ(reply.data().size(), static_cast<std::size_t>(size));
  }
}

TEST_F(ForeignClient, hears_errors) {
  Message reply;
  for (const std::string& text : kTexts) {
    grpc::Status status = call(&Echo::Stub::Fail, message(text, 5), reply);
    EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
    EXPECT_EQ(status.error_message(), text);
  }
}

TEST_F(ForeignClient, is_told_that_its_request_is_too_large) {
  Message request, reply;
  request.set_data(std::string(17 << 20, 'q'));
  EXPECT_EQ(call(&Echo::Stub::Same, request, reply).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(call(&Echo::Stub::Same, message("alive"), reply).ok());
}

TEST_F(ForeignClient, gives_up_at_its_deadline) {
  Message reply;
  grpc::Status status = call(&Echo::Stub::Sleep, message("", 5000), reply, 50ms);
  EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
}

TEST_F(ForeignClient, reads_a_stream) {
  grpc::ClientContext context;
  Message request = message("m", 1000), reply;
  request.set_data(std::string(1000, 'y'));
  auto reader = stub_->Count(&context, request);
  int seen = 0;
  while (reader->Read(&reply)) EXPECT_EQ(reply.number(), seen++);
  EXPECT_EQ(seen, 1000);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ForeignClient, cancels_a_stream) {
  grpc::ClientContext context;
  Message request = message("m", 100'000'000), reply;
  request.set_data(std::string(10'000, 'y'));
  auto reader = stub_->Count(&context, request);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(reader->Read(&reply));
  context.TryCancel();
  while (reader->Read(&reply)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(call(&Echo::Stub::Same, message("alive"), reply).ok());
}

// Pings every 20 ms while this call waits; a server that minded would close the connection.
TEST_F(ForeignClient, may_ping) {
  Message reply;
  EXPECT_TRUE(call(&Echo::Stub::Sleep, message("", 200), reply).ok());
}

}  // namespace
}  // namespace plim::net
