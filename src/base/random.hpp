// Random numbers and IDs. The source is a parameter, so that tests and simulations are
// reproducible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace plim {

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::byte> out) = 0;

  std::uint64_t next();
  std::uint64_t below(std::uint64_t limit);  // 0 … limit-1, uniform; limit must not be 0
  double unit();                             // 0 ≤ x < 1
};

// The kernel's source, getrandom(2): good for secrets, callable from any thread.
Random& system_random();

// Returns the same sequence for the same seed. Never for secrets; belongs to one thread.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  void fill(std::span<std::byte> out) override;

 private:
  std::uint64_t state_;
};

// RFC 4122 version 4: "0b8a7e54-6f0c-4d5e-9a55-1b2c3d4e5f60".
std::string make_uuid(Random& random = system_random());
// The suffix that Kubernetes appends to generateName: five of bcdfghjklmnpqrstvwxz2456789, which
// spell no words.
std::string make_name_suffix(Random& random = system_random(), std::size_t length = 5);
// Two hex digits for each of `bytes`.
std::string make_token(std::size_t bytes = 16, Random& random = system_random());

}  // namespace plim
