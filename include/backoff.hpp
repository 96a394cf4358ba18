// libbackoff for C++17: std::chrono in place of nanoseconds, and the delays of an operation as a range. Header only, over
// backoff.h, which is the manual.
//
//     #include <backoff.hpp>
//
//     libbackoff::policy policy(BACKOFF_KIND_FULL_JITTER);
//     policy.cap(std::chrono::seconds(2)).attempt_limit(8);
//     for (auto delay : libbackoff::delays(policy, 42, 7))    // seed 42, device 7
//         if (request()) break; else std::this_thread::sleep_for(delay);
//
// The elapsed limit of a policy is applied by libbackoff::operation, which is told the time; a range has no clock.

#ifndef BACKOFF_HPP
#define BACKOFF_HPP

#include <backoff_presets.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

namespace libbackoff {

using nanoseconds = std::chrono::nanoseconds;

// Nanoseconds as the library counts them; what is below 0 is 0.
inline std::uint64_t count(nanoseconds span)
{
    return span.count() < 0 ? 0 : static_cast<std::uint64_t>(span.count());
}

// The same as std::chrono has them: what passes 2^63 - 1 ns, 292 years, is that long.
inline nanoseconds span(std::uint64_t count)
{
    constexpr std::uint64_t most = INT64_MAX;
    return nanoseconds(static_cast<std::int64_t>(count < most ? count : most));
}

// How long to wait after the n-th failure: struct backoff_policy with setters that can be chained.
class policy {
public:
    explicit policy(backoff_kind kind = BACKOFF_KIND_FULL_JITTER) { raw_.kind = kind; }

    policy &base(nanoseconds value) { raw_.base_ns = libbackoff::count(value); return *this; }
    policy &ceiling(nanoseconds value) { raw_.ceiling_ns = libbackoff::count(value); return *this; }
    policy &cap(nanoseconds value) { raw_.cap_ns = libbackoff::count(value); return *this; }
    policy &slot(nanoseconds value) { raw_.slot_ns = libbackoff::count(value); return *this; }
    policy &elapsed_limit(nanoseconds value) { raw_.elapsed_limit_ns = libbackoff::count(value); return *this; }
    policy &attempt_limit(std::uint64_t value) { raw_.attempt_limit = value; return *this; }
    policy &jitter(backoff_jitter value, std::uint32_t amount = 0)
    {
        raw_.jitter = value;
        raw_.jitter_amount = amount;
        return *this;
    }

    // Every other field.
    backoff_policy &raw() { return raw_; }
    const backoff_policy &raw() const { return raw_; }

private:
    backoff_policy raw_ = BACKOFF_POLICY_INIT;
};

// One operation that is tried until it succeeds, at the caller's time.
class operation {
public:
    operation(std::uint64_t seed, std::uint64_t stream, nanoseconds now = nanoseconds::zero())
    {
        backoff_retry_init(&retry_, seed, stream, libbackoff::count(now));
    }

    // Counts a failure; the delay from now on, or nothing: give up, and status() says why.
    std::optional<nanoseconds> fail(const policy &policy, nanoseconds now, nanoseconds hint = nanoseconds::zero())
    {
        std::uint64_t delay = 0;
        status_ = backoff_retry_fail_any(&retry_, &policy.raw(), libbackoff::count(now), libbackoff::count(hint), &delay);
        if (status_ != BACKOFF_STATUS_OK)
            return std::nullopt;
        return span(delay);
    }

    // Ready for another operation, whose first attempt is made now.
    void reset(nanoseconds now) { backoff_retry_reset(&retry_, libbackoff::count(now)); }

    backoff_status status() const { return status_; }
    const char *status_text() const { return backoff_status_text(status_); }

private:
    backoff_retry retry_;
    backoff_status status_ = BACKOFF_STATUS_OK;
};

// The delays of a policy, one after each failure, until its attempt limit: an input range.
class delays {
public:
    delays(const policy &policy, std::uint64_t seed, std::uint64_t stream) : policy_(policy), operation_(seed, stream)
    {
        policy_.raw().elapsed_limit_ns = UINT64_MAX;
    }

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = nanoseconds;
        using difference_type = std::ptrdiff_t;
        using pointer = const nanoseconds *;
        using reference = const nanoseconds &;

        iterator() = default;
        explicit iterator(delays *range) : range_(range) { ++*this; }

        reference operator*() const { return *delay_; }
        pointer operator->() const { return &*delay_; }
        iterator &operator++()
        {
            delay_ = range_->operation_.fail(range_->policy_, nanoseconds::zero());
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator &one, const iterator &other)
        {
            return one.delay_.has_value() == other.delay_.has_value();
        }
        friend bool operator!=(const iterator &one, const iterator &other) { return !(one == other); }

    private:
        delays *range_ = nullptr;
        std::optional<nanoseconds> delay_;
    };

    iterator begin() { return iterator(this); }
    iterator end() { return iterator(); }

private:
    policy policy_;
    operation operation_;
};

} // namespace libbackoff

#endif
