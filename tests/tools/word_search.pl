#!/usr/bin/env perl
# A command in another language: files under the current folder, by how many words they hold.
# `perl word_search.pl [--stay] [-- QUESTION]`; with --stay a JSON object a line on stdin.
use strict;
use warnings;
use File::Find;

sub answer {
    my ($question) = @_;
    my %words = map { lc($_) => 1 } $question =~ /([A-Za-z]{4,})/g;
    my @found;
    find({ no_chdir => 1, wanted => sub {
        return unless -f $_;
        open(my $file, '<', $_) or return;
        my ($score, $first, %seen) = (0, 0);
        while (my $line = <$file>) {
            for my $word (keys %words) {
                next if $seen{$word} || index(lc($line), $word) < 0;
                $seen{$word} = 1;
                $first ||= $.;
                $score++;
            }
        }
        close($file);
        push @found, [$score, $_, $first] if $score;
    } }, '.');
    return sort { $b->[0] <=> $a->[0] || $a->[1] cmp $b->[1] } @found;
}

$| = 1;
if (@ARGV && $ARGV[0] eq '--stay') {
    while (my $line = <STDIN>) {
        exit 7 if $line =~ /please die/;
        print '{"error": "asked to fail"}', "\n" and next if $line =~ /please fail/;
        my @rows = map { qq({"path": "$_->[1]", "line": $_->[2], "score": $_->[0]}) } answer(
            $line =~ /"query":"((?:[^"\\]|\\.)*)"/ ? $1 : '');
        print '{"results": [', join(', ', @rows), "]}\n";
    }
    exit 0;
}
shift @ARGV if @ARGV && $ARGV[0] eq '--';
printf "%d %s:%d\n", @$_[0, 1, 2] for answer($ARGV[0] // '');
